// Bars for each measure of a comparison, by text and tokenizer, as one picture (SVG) that is whole without the page.

import { draw, number } from "./page.js";
import { spokenText } from "./text.js";

const DRAWN = ["bytes_per_token", "fertility", "continued_words", "strr", "nsl", "renyi_efficiency", "vocabulary_used"];
const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7f7f7f"]; // Okabe and Ito's
const BAR = 18;
const LABELS = 230;
const BARS = 360;

const short = (name) => (name.length > 28 ? `…${spokenText(name.slice(-27))}` : spokenText(name));

export function drawCharts(rows, measures) {
  const tokenizers = [...new Set(rows.map((row) => row.tokenizer))];
  const several = new Set(rows.map((row) => row.corpus)).size > 1;
  const parts = [];
  let y = 0;
  for (const key of DRAWN) {
    const most = Math.max(...rows.map((row) => row[key] ?? 0));
    if (!(most > 0)) continue;
    y += 30;
    parts.push(draw("text", { x: 0, y: y - 8, fill: "currentColor", "font-weight": "bold" }, measures.find((each) => each.key === key).title));
    for (const row of rows) {
      const value = row[key];
      const wide = typeof value === "number" ? (value / most) * BARS : 0;
      const name = several ? `${short(row.tokenizer)}, ${short(row.corpus)}` : short(row.tokenizer);
      const colour = COLOURS[tokenizers.indexOf(row.tokenizer) % COLOURS.length];
      parts.push(
        draw("text", { x: LABELS - 8, y: y + 13, fill: "currentColor", "text-anchor": "end" }, several ? name.slice(0, 34) : name),
        draw("rect", { x: LABELS, y: y + 1, width: wide, height: BAR - 3, fill: colour, stroke: "currentColor", "stroke-width": 0.5 }),
        draw("text", { x: LABELS + wide + 6, y: y + 13, fill: "currentColor" }, typeof value === "number" ? number(value, 3) : "–"),
      );
      y += BAR;
    }
  }
  const [width, height] = [LABELS + BARS + 80, y + 10];
  const shape = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "The measures as bars; the table has the same figures", class: "charts", "font-family": "sans-serif", "font-size": 13 };
  return draw("svg", shape, ...parts);
}
