// Comparing tokenizers on texts: the table, the charts, and both as files.

import { ask, send } from "./api.js";
import { begin, failed, problem } from "./begin.js";
import { drawCharts, isNumber, shownFigure, usedMeasures } from "./charts.js";
import { byId, make, number } from "./page.js";
import { shownText, spokenText } from "./text.js";

const MOST = 8; // tokenizers, and texts
const MOST_ALPHA = 1000; // order of a Rényi entropy

let result = null;
let typed = 0; // texts that were added, for the names of new ones

const all = (id) => [...byId(id).querySelectorAll("input")].map((input) => input.value);
const checked = (id) => [...byId(id).querySelectorAll("input:checked")].map((input) => input.value);

// problems: name -> why it cannot be chosen
function boxes(id, names, chosen, problems = new Map()) {
  byId(id).replaceChildren(...names.map((name) => {
    const said = problems.has(name) ? [" (cannot be read)"] : [];
    const box = make("input", { type: "checkbox", value: name, checked: chosen.includes(name), disabled: problems.has(name) });
    return make("label", { title: problems.get(name) }, box, make("span", {}, shownText(name, false), ...said));
  }));
}

// ---- The texts that are typed, each with a name

function addText() {
  typed += 1;
  const name = make("input", { value: typed === 1 ? "text" : `text ${typed}`, class: "name", autocomplete: "off", spellcheck: "false" });
  const text = make("textarea", { id: typed === 1 ? "text" : null, "aria-label": "Text", rows: 4, spellcheck: "false", autocomplete: "off", dir: "auto", placeholder: "Type or paste a text here." });
  const remove = make("button", { type: "button", class: "remove", "aria-label": "Remove this text", title: "Remove this text" }, "×");
  const element = make("div", { class: "typed" }, make("div", { class: "bar" }, make("label", {}, "Name", name), remove), text);
  remove.addEventListener("click", () => {
    element.remove();
    textsChanged();
  });
  byId("typed").append(element);
  textsChanged();
  return text;
}

function textsChanged() {
  const n = byId("typed").childElementCount;
  byId("add").disabled = n >= MOST;
  for (const remove of byId("typed").querySelectorAll(".remove")) remove.hidden = n === 1;
  fillWays();
}

// [name, text] of those that are not empty
function typedTexts() {
  const found = [...byId("typed").children].map((each) => [each.querySelector(".name").value.trim(), each.querySelector("textarea").value]);
  return found.filter(([, text]) => text);
}

// ---- What is chosen

// The tokenizers and texts that are chosen can be the one that others are measured by.
function fillWays() {
  const options = (id, first, names) => {
    const before = byId(id).value;
    byId(id).replaceChildren(make("option", { value: "" }, first), ...names.map((name) => make("option", { value: name }, spokenText(name))));
    byId(id).value = names.includes(before) ? before : "";
  };
  options("reference", "the first", checked("tokenizers"));
  options("parallel", "no other", [...typedTexts().map(([name]) => name), ...checked("named")]);
  for (const id of ["tokenizers", "named"]) byId(`${id}-chosen`).textContent = ` (${number(checked(id).length)} of ${number(all(id).length)} chosen)`;
}

// What is missing or too much, as a sentence; null for what can be compared.
function lacking(tokenizers, texts) {
  const many = (n, what) => (n > MOST ? `Choose ${MOST} ${what} at most: you chose ${n}.` : null);
  const again = texts.find((name, i) => texts.indexOf(name) < i);
  if (tokenizers.length === 0) return "Choose a tokenizer first.";
  if (texts.length === 0) return all("named").length ? "Type a text first, or choose one that was named at start." : "Type a text first.";
  if (texts.includes("")) return "Give each text a name.";
  if (again !== undefined) return `Two texts have the name '${spokenText(again)}': give each its own.`;
  if (!byId("alpha").validity.valid || Number(byId("alpha").value) > MOST_ALPHA) return `The order of the Rényi entropy is a number from 0 to ${number(MOST_ALPHA)}.`;
  return many(tokenizers.length, "tokenizers") ?? many(texts.length, "texts");
}

async function compare() {
  const [tokenizers, texts, named] = [checked("tokenizers"), typedTexts(), checked("named")];
  problem(null);
  byId("said").textContent = "";
  byId("result").hidden = true;
  const message = lacking(tokenizers, [...texts.map(([name]) => name), ...named]);
  if (message !== null) {
    problem(message);
    return;
  }
  byId("said").textContent = "Comparing…";
  byId("compare").disabled = true;
  try {
    const ways = {};
    for (const name of ["reference", "parallel"]) if (byId(name).value) ways[name] = byId(name).value;
    if (byId("alpha").value) ways.alpha = Number(byId("alpha").value);
    result = await send("compare", { tokenizers, texts: Object.fromEntries(texts), named, ...ways });
    byId("said").textContent = result.cut.length ? `Of ${result.cut.join(", ")} only the beginning was measured.` : "";
    show();
  } catch (error) {
    byId("said").textContent = "";
    failed(error);
  }
  byId("compare").disabled = false;
}

// ---- What was found

function show() {
  const { rows, measures } = result;
  const used = usedMeasures(rows, measures);
  const heads = ["tokenizer", "text"].map((name) => make("th", { scope: "col" }, name));
  byId("heads").replaceChildren(make("tr", {}, ...heads, ...used.map(({ title, definition }) => make("th", { scope: "col", class: "n", title: definition }, title))));
  byId("rows").replaceChildren(...rows.map((row) => {
    const names = [make("th", { scope: "row", title: row.tokenizer }, shownText(row.tokenizer, false)), make("td", { class: "of", title: row.corpus }, shownText(row.corpus, false))];
    return make("tr", {}, ...names, ...used.map(({ key, whole }) => make("td", { class: "n" }, isNumber(row[key]) ? shownFigure(row[key], whole) : "")));
  }));
  byId("definitions").replaceChildren(...used.flatMap(({ title, definition }) => [make("dt", {}, title), make("dd", {}, definition)]));
  byId("result").hidden = false;
  showCharts();
}

function showCharts() {
  if (result !== null && !byId("result").hidden) byId("charts").replaceChildren(drawCharts(result.rows, result.measures, byId("charts").clientWidth));
}

function save(name, kind, content) {
  const url = URL.createObjectURL(new Blob([content], { type: kind }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function start() {
  const [{ texts }, { tokenizers }] = await Promise.all([ask("about"), ask("tokenizers")]);
  const given = tokenizers.filter((each) => each.source === "given").map((each) => each.name);
  boxes("tokenizers", tokenizers.map((each) => each.name), given.length ? given.slice(0, MOST) : ["gpt2", "cl100k_base", "o200k_base"]);
  const named = [...new Set(texts.map((each) => each.name))];
  const problems = new Map(texts.filter((each) => each.problem !== null).map((each) => [each.name, each.problem]));
  boxes("named", named, named.filter((name) => !problems.has(name)).slice(0, MOST - 1), problems);
  byId("named-field").hidden = named.length === 0;
  fillWays();
  byId("compare").disabled = false;
}

byId("comparing").addEventListener("submit", (event) => {
  event.preventDefault();
  compare();
});
byId("comparing").addEventListener("change", fillWays);
byId("add").addEventListener("click", () => addText().focus());
byId("csv").addEventListener("click", () => save("comparison.csv", "text/csv", result.csv));
byId("json").addEventListener("click", () => save("comparison.json", "application/json", JSON.stringify(result.rows, null, 1)));
byId("svg").addEventListener("click", () => save("comparison.svg", "image/svg+xml", new XMLSerializer().serializeToString(drawCharts(result.rows, result.measures))));
window.addEventListener("resize", showCharts);
addText();
begin(start);
