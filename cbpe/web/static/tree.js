// The merge tree of a token as a picture (SVG), and as a list of merges for those who do not see it.

import { draw, following, make, makeLink, number } from "./page.js";
import { shownText, spacedBytes, spokenText } from "./text.js";

const WIDE = 62; // of a leaf
const HIGH = 66; // of a level
const BOX = 40;

const label = (node) => (node.text === null ? spacedBytes(node.bytes, 8) : spokenText(node.text, "·"));

// nodes: as /api/v1/merges answers them. addressOf: the address of what the page shows of the token with an id.
export function drawTree(nodes, addressOf) {
  const places = nodes.map(() => ({ left: 0, right: 0, depth: 0 }));
  let leaves = 0;
  let deepest = 0;
  const place = (at, depth) => {
    const { parts } = nodes[at];
    deepest = Math.max(deepest, depth);
    places[at].depth = depth;
    places[at].left = leaves;
    if (parts.length === 0) leaves += 1;
    for (const part of parts) place(part, depth + 1);
    places[at].right = leaves;
  };
  place(0, 0);
  const x = (at) => ((places[at].left + places[at].right) / 2) * WIDE;
  const y = (at) => places[at].depth * HIGH + 4;
  const lines = draw("g", { class: "edges" });
  const boxes = draw("g", {});
  nodes.forEach((node, at) => {
    for (const part of node.parts) lines.append(draw("line", { x1: x(at), y1: y(at) + BOX, x2: x(part), y2: y(part) }));
    const wide = Math.min((places[at].right - places[at].left) * WIDE - 6, Math.max(WIDE - 6, label(node).length * 9.5 + 16));
    const box = draw("g", { class: `node c${places[at].depth % 5}`, "data-id": node.id });
    const link = following(draw("a", { "aria-label": `${label(node)}, token ${node.id}`, tabindex: at ? "-1" : "0" }, box), () => addressOf(node.id));
    box.append(
      draw("rect", { x: x(at) - wide / 2, y: y(at), width: wide, height: BOX, rx: 5 }),
      draw("text", { x: x(at), y: y(at) + 17, class: "said", direction: "ltr", "unicode-bidi": "isolate" }, label(node)),
      draw("text", { x: x(at), y: y(at) + 33, class: "id" }, String(node.id)),
    );
    boxes.append(link);
  });
  const [width, height] = [leaves * WIDE, deepest * HIGH + BOX + 8];
  const said = `Merge tree of ${label(nodes[0])}: ${number(leaves)} leaves`;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": said, class: "tree" }, lines, boxes);
  boxes.addEventListener("keydown", (event) => walk(event, [...boxes.children], nodes, places));
  return make("div", {}, make("div", { class: "scroll", role: "region", "aria-label": "Merge tree" }, picture), listOf(nodes, addressOf));
}

// Scroll a tree that is wider than the window to its root, which is in the middle.
export function showRoot(element) {
  const scroll = element.querySelector(".scroll");
  if (scroll !== null) scroll.scrollLeft = (scroll.scrollWidth - scroll.clientWidth) / 2;
}

// The arrow keys go down to the first part, up to what it is a part of, and to the neighbours on the same level.
function walk(event, links, nodes, places) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const at = links.indexOf(event.target.closest("a"));
  const level = nodes.map((_, i) => i).filter((i) => places[i].depth === places[at].depth).sort((a, b) => places[a].left - places[b].left);
  const beside = level.indexOf(at);
  const steps = {
    ArrowDown: () => nodes[at].parts[0], ArrowUp: () => nodes.findIndex((node) => node.parts.includes(at)),
    ArrowLeft: () => level[beside - 1], ArrowRight: () => level[beside + 1],
  };
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  const next = links[steps[event.key]()];
  if (next === undefined) return;
  links[at].setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

const named = (node, addressOf) => makeLink(() => addressOf(node.id), {}, node.text === null ? spacedBytes(node.bytes, 8) : shownText(node.text, true, true), ` (${node.id})`);

// The merges of a tree, the first ones first.
function listOf(nodes, addressOf) {
  const rows = nodes.filter((node) => node.parts.length).reverse();
  const link = (node) => named(node, addressOf);
  const items = rows.map((node) => make("li", {}, link(nodes[node.parts[0]]), " + ", link(nodes[node.parts[1]]), " → ", link(node)));
  return make("details", { class: "merges" }, make("summary", {}, "The merges as a list"), make("ol", {}, ...items));
}
