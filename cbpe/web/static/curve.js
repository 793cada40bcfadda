// The curve of a training: bytes per token against the size of the vocabulary.

import { draw, make, number } from "./page.js";

const [LEAST, MOST, HEIGHT] = [240, 480, 200];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 26, 12, 40];
const TICKS = 4;
const [LETTER, GAP] = [7, 12]; // pixels: the width of a figure of a label, about, and the least between two labels

// A round step, so that some `most` of them make the whole.
function stepOf(whole, most) {
  const rough = whole / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((each) => each * power >= rough);
}

function ticks(from, to, most, least = 0) {
  const step = Math.max(stepOf(to - from, most), least);
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step / 1000; at += step) found.push(at);
  return found;
}

// points: [size of the vocabulary, bytes per token] of some sizes. began: the size at which this training began. wide: how
// many pixels it may take: one that is made narrower by the browser has figures that are too small to read.
export function drawCurve(points, began, wide) {
  if (points.length < 2) return make("p", { class: "keys" }, "There is no curve of it: nothing was merged.");
  const [first, last] = [points[0], points[points.length - 1]];
  const most = Math.max(...points.map((point) => point[1]));
  const least = Math.min(0, ...points.map((point) => point[1]));
  const width = Math.max(LEAST, Math.min(MOST, wide));
  const x = (size) => LEFT + ((size - first[0]) / (last[0] - first[0])) * (width - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((value - least) / (most - least)) * (HEIGHT - TOP - BOTTOM);
  const parts = [];
  for (const value of ticks(least, most, TICKS)) {
    parts.push(draw("line", { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), class: "grid" }));
    parts.push(draw("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, number(value, most < 1 ? 2 : 1)));
  }
  const fitting = Math.floor((width - LEFT - RIGHT) / (LETTER * number(last[0]).length + GAP));
  for (const size of ticks(first[0], last[0], Math.min(TICKS, fitting), 1)) parts.push(draw("text", { x: x(size), y: HEIGHT - BOTTOM + 17, "text-anchor": "middle" }, number(size)));
  parts.push(draw("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 5, "text-anchor": "middle" }, "tokens in the vocabulary"));
  if (began > first[0]) parts.push(draw("line", { x1: x(began), x2: x(began), y1: TOP, y2: HEIGHT - BOTTOM, class: "began" }));
  parts.push(draw("polyline", { points: points.map(([size, value]) => `${x(size).toFixed(1)},${y(value).toFixed(1)}`).join(" "), class: "line-of" }));
  const said = `Bytes per token: ${number(first[1], 2)} with ${number(first[0])} tokens, ${number(last[1], 2)} with ${number(last[0])}`;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": said, class: "curve" }, ...parts);
  const before = began > first[0] ? `; the training began at the dashed line, with ${number(began)} tokens` : "";
  return make("figure", {}, picture, make("figcaption", { class: "keys" }, `${said}${before}.`));
}
