// Comparing tokenizers on texts: the table, the charts, and both as files.

import { ask, send } from "./api.js";
import { begin, failed, problem } from "./begin.js";
import { drawCharts } from "./charts.js";
import { byId, make, number } from "./page.js";
import { shownText } from "./text.js";

let result = null;

const checked = (id) => [...byId(id).querySelectorAll("input:checked")].map((input) => input.value);

function boxes(id, names, chosen) {
  byId(id).replaceChildren(...names.map((name) => make("label", {}, make("input", { type: "checkbox", value: name, checked: chosen.includes(name) }), " ", shownText(name, false))));
}

// The tokenizers and texts that are chosen can be the one that others are measured by.
function fillWays() {
  const options = (id, first, names) => {
    const before = byId(id).value;
    byId(id).replaceChildren(make("option", { value: "" }, first), ...names.map((name) => make("option", { value: name }, name)));
    byId(id).value = names.includes(before) ? before : "";
  };
  options("reference", "the first", checked("tokenizers"));
  options("parallel", "no other", [...(byId("text").value ? ["text"] : []), ...checked("named")]);
}

async function compare() {
  problem(null);
  byId("said").textContent = "Comparing…";
  byId("compare").disabled = true;
  try {
    const texts = byId("text").value ? { text: byId("text").value } : {};
    const ways = {};
    for (const name of ["reference", "parallel"]) if (byId(name).value) ways[name] = byId(name).value;
    if (byId("alpha").value) ways.alpha = Number(byId("alpha").value);
    result = await send("compare", { tokenizers: checked("tokenizers"), texts, named: checked("named"), ...ways });
    byId("said").textContent = result.cut.length ? `Of ${result.cut.join(", ")} only the beginning was measured.` : "";
    show();
  } catch (error) {
    byId("said").textContent = "";
    failed(error);
  }
  byId("compare").disabled = false;
}

const isNumber = (value) => typeof value === "number";

// The figures of a measure, all with the same number of digits; more for one that is small.
function shownFigure(value, whole) {
  if (whole) return number(value);
  return value > 0 && value < 0.01 ? value.toPrecision(2) : number(value, 3);
}

function show() {
  const { rows, measures } = result;
  const used = measures.filter(({ key }) => rows.some((row) => isNumber(row[key])));
  const whole = new Set(used.map(({ key }) => key).filter((key) => rows.every((row) => !isNumber(row[key]) || Number.isInteger(row[key]))));
  const heads = ["tokenizer", "text"].map((name) => make("th", { scope: "col" }, name));
  byId("heads").replaceChildren(make("tr", {}, ...heads, ...used.map(({ title, definition }) => make("th", { scope: "col", class: "n", title: definition }, title))));
  byId("rows").replaceChildren(...rows.map((row) => {
    const names = [make("th", { scope: "row" }, shownText(row.tokenizer, false)), make("td", {}, shownText(row.corpus, false))];
    return make("tr", {}, ...names, ...used.map(({ key }) => make("td", { class: "n" }, isNumber(row[key]) ? shownFigure(row[key], whole.has(key)) : "")));
  }));
  byId("charts").replaceChildren(drawCharts(rows, measures));
  byId("definitions").replaceChildren(...used.flatMap(({ title, definition }) => [make("dt", {}, title), make("dd", {}, definition)]));
  byId("result").hidden = false;
}

function save(name, kind, content) {
  const url = URL.createObjectURL(new Blob([content], { type: kind }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function start() {
  const [{ texts }, { tokenizers }] = await Promise.all([ask("about"), ask("tokenizers")]);
  const given = tokenizers.filter((each) => each.source === "given").map((each) => each.name);
  boxes("tokenizers", tokenizers.map((each) => each.name), given.length ? given.slice(0, 8) : ["gpt2", "cl100k_base", "o200k_base"]);
  const named = [...new Set(texts.map((each) => each.name))];
  boxes("named", named, named.slice(0, 7));
  byId("named-field").hidden = named.length === 0;
  fillWays();
}

byId("comparing").addEventListener("submit", (event) => {
  event.preventDefault();
  compare();
});
byId("comparing").addEventListener("change", fillWays);
byId("csv").addEventListener("click", () => save("comparison.csv", "text/csv", result.csv));
byId("json").addEventListener("click", () => save("comparison.json", "application/json", JSON.stringify(result.rows, null, 1)));
byId("svg").addEventListener("click", () => save("comparison.svg", "image/svg+xml", new XMLSerializer().serializeToString(byId("charts").firstChild)));
begin(start);
