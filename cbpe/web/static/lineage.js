// How versions came about, as a graph: each in a row, with a line to the one that its training went on from below it.

import { draw, make, number } from "./page.js";
import { shortened, shownText } from "./text.js";

const HIGH = 34; // of a row, as style.css has it
const WIDE = 18; // of a lane, while there is room
const ROOM = 130; // for all lanes
const LONGEST = 40; // characters of a name; all of it under the pointer

// The lane of each row, and how many there are. A lane is kept from a version down to its parent.
function lanesOf(versions) {
  const known = new Set(versions.map((version) => version.reference));
  const lanes = []; // what each waits for: a parent further down, or null
  const found = versions.map((version) => {
    let lane = lanes.indexOf(version.reference);
    if (lane < 0) lane = lanes.includes(null) ? lanes.indexOf(null) : lanes.length;
    for (let i = 0; i < lanes.length; i += 1) if (lanes[i] === version.reference) lanes[i] = null;
    lanes[lane] = known.has(version.parent) ? version.parent : null;
    return lane;
  });
  return [found, lanes.length];
}

// versions: as /api/v1/lineage answers them. chosen: the one that is shown. linkTo: makes a link to a version, with a text.
export function drawLineage(versions, name, chosen, linkTo) {
  const [lanes, n] = lanesOf(versions);
  const wide = Math.max(4, Math.min(WIDE, ROOM / n));
  const [width, height] = [n * wide + 6, versions.length * HIGH];
  const rows = new Map(versions.map((version, row) => [version.reference, row]));
  const x = (row) => lanes[row] * wide + wide / 2 + 2;
  const y = (row) => row * HIGH + HIGH / 2;
  const edges = draw("g", { class: "edges" });
  const dots = draw("g", {});
  versions.forEach((version, row) => {
    const below = rows.get(version.parent);
    if (below !== undefined) edges.append(draw("path", { d: `M${x(row)},${y(row)} V${y(below) - HIGH} C${x(row)},${y(below) - HIGH / 3} ${x(below)},${y(below) - HIGH * 0.6} ${x(below)},${y(below)}`, fill: "none" }));
    else if (version.parent !== null) edges.append(draw("path", { d: `M${x(row)},${y(row)} v${HIGH / 2}`, fill: "none", "stroke-dasharray": "2 2" }));
    dots.append(draw("circle", { cx: x(row), cy: y(row), r: version.reference === chosen ? 6.5 : 5, class: version.reference === chosen ? "now" : version.reference.startsWith(`${name}@`) ? "own" : "other" }));
  });
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true", class: "lines" }, edges, dots);
  const items = versions.map((version) => {
    const aliases = version.aliases.flatMap((alias) => [" ", make("span", { class: "chip", title: alias }, shownText(alias, false))]);
    const more = version.n_aliases > version.aliases.length ? ` and ${number(version.n_aliases - version.aliases.length)} more` : "";
    const from = version.parent === null ? "" : make("span", { class: "unseen" }, ", from ", shownText(version.parent, false));
    const link = linkTo(version.reference, shortened(version.reference, LONGEST));
    if (version.reference === chosen) link.setAttribute("aria-current", "true");
    return make("li", {}, link, ...aliases, more, from, make("span", { class: "dim" }, ` ${number(version.vocab_size)} tokens`));
  });
  return make("div", { class: "scroll lineage", tabindex: "0", role: "region", "aria-label": "Lineage, the newest first" }, make("div", { class: "graph" }, picture, make("ol", {}, ...items)));
}
