// Bars for each measure of a comparison, by text and tokenizer, as one picture (SVG) that is whole without the page.

import { draw, number } from "./page.js";
import { spokenText } from "./text.js";

const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7f7f7f"]; // Okabe and Ito's
const BAR = 18;
const LINE = 17; // of a name that stands above its bar
const NARROW = 520; // less, and names stand above the bars
const LABELS = 230;
const FIGURES = 84;
const LETTER = 8.2; // the width of one, about
export const WIDEST = 680;

// The figures of a measure, all with the same number of digits; more for one that is small. Shares are in percent.
export function shownFigure(value, { whole, is_share: isShare }) {
  if (isShare) return `${value > 0 && value < 0.01 ? (100 * value).toPrecision(2) : number(100 * value, 1)}%`;
  if (whole) return number(value);
  return value > 0 && value < 0.01 ? value.toPrecision(2) : number(value, 3);
}

export const isNumber = (value) => typeof value === "number";

// The measures that some row has, each with whether all its figures are whole numbers.
export function usedMeasures(rows, measures) {
  return measures
    .filter(({ key }) => rows.some((row) => isNumber(row[key])))
    .map((measure) => ({ ...measure, whole: rows.every((row) => !isNumber(row[measure.key]) || Number.isInteger(row[measure.key])) }));
}

// Names as short as they stay different: files without their folders, if no two are then the same.
export function shortNames(names) {
  const last = names.map((name) => name.split(/[\\/]/).at(-1) || name);
  return new Map(names.map((name, i) => [name, last.filter((each) => each === last[i]).length === 1 ? last[i] : name]));
}

// A name that fits into so many pixels: its beginning and its end, and the whole of it under the pointer.
function label(name, short, wide, attributes) {
  const said = spokenText(short, " ");
  const most = Math.max(8, Math.floor(wide / LETTER));
  const cut = said.length <= most ? said : `${said.slice(0, Math.ceil((most - 1) / 2))}…${said.slice(-Math.floor((most - 1) / 2))}`;
  return draw("text", { fill: "currentColor", ...attributes }, cut, draw("title", {}, name));
}

// wide: how many pixels the picture may take.
export function drawCharts(rows, measures, wide = WIDEST) {
  const width = Math.max(240, Math.min(WIDEST, wide));
  const narrow = width < NARROW;
  const from = narrow ? 0 : LABELS;
  const longest = width - from - FIGURES;
  const tokenizers = [...new Set(rows.map((row) => row.tokenizer))];
  const corpora = [...new Set(rows.map((row) => row.corpus))];
  const [shortTokenizers, shortCorpora] = [shortNames(tokenizers), shortNames(corpora)];
  const parts = [];
  let y = 0;
  const bar = (row, measure, most) => {
    const value = row[measure.key];
    const long = isNumber(value) && most > 0 ? (Math.max(0, value) / most) * longest : 0;
    const place = narrow ? { x: 0, y: y + 13 } : { x: LABELS - 8, y: y + 13, "text-anchor": "end" };
    parts.push(label(row.tokenizer, shortTokenizers.get(row.tokenizer), narrow ? width : LABELS - 16, place));
    if (narrow) y += LINE;
    const colour = COLOURS[tokenizers.indexOf(row.tokenizer) % COLOURS.length];
    parts.push(
      draw("rect", { x: from, y: y + 1, width: long, height: BAR - 3, fill: colour, stroke: "currentColor", "stroke-width": 0.5 }),
      draw("text", { x: from + long + 6, y: y + 13, fill: "currentColor", class: "figure" }, isNumber(value) ? shownFigure(value, measure) : "–"),
    );
    y += BAR;
  };
  for (const measure of usedMeasures(rows, measures)) {
    const { key, title } = measure;
    const most = Math.max(...rows.map((row) => row[key] ?? 0));
    y += 30;
    parts.push(draw("text", { x: 0, y: y - 8, fill: "currentColor", "font-weight": "bold" }, title));
    for (const corpus of corpora) {
      if (corpora.length > 1) {
        parts.push(label(corpus, shortCorpora.get(corpus), width, { x: 0, y: y + 13, "font-style": "italic" }));
        y += BAR;
      }
      for (const row of rows) if (row.corpus === corpus) bar(row, measure, most);
    }
  }
  const shape = { viewBox: `0 0 ${width} ${y + 10}`, width, height: y + 10, role: "img", "aria-label": "The measures as bars; the table has the same figures", class: "charts", "font-family": "sans-serif", "font-size": 13 };
  return draw("svg", shape, ...parts);
}
