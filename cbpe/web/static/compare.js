// Comparing tokenizers on texts: the table, the charts, and both as files.

import { ask, send } from "./api.js";
import { begin, failed, problem } from "./begin.js";
import { drawCharts, isNumber, shownFigure, usedMeasures } from "./charts.js";
import { byId, count, make, number } from "./page.js";
import { quoted, shownText, spokenText, toldOfRows } from "./text.js";

const MOST = 8; // tokenizers, and texts
const MOST_ALPHA = 1000; // order of a Rényi entropy
const LONGEST_FILE = 5000000; // bytes of one that is opened or dropped
const KEPT = "cbpe-compare";
const LONGEST_KEPT = 1000000; // characters of a typed text that is kept until the tab is closed

let result = null;
let comparing = false;
let changed = false; // the choice, since the comparison began
let here = null; // what was named at start: what is kept of another start is not taken up
const wayOf = new WeakMap(); // the box of a tokenizer or text, or what a text is typed in -> its option in a list

const all = (id) => [...byId(id).querySelectorAll("input")].map((input) => input.value);
const boxesOf = (id) => [...byId(id).querySelectorAll("input:checked")];
const checked = (id) => boxesOf(id).map((input) => input.value);

// problems: name -> why it cannot be chosen
function boxes(id, names, chosen, problems = new Map()) {
  byId(id).replaceChildren(...names.map((name) => {
    const said = problems.has(name) ? [" (cannot be read)"] : [];
    const box = make("input", { type: "checkbox", value: name, checked: chosen.includes(name), disabled: problems.has(name), "data-problem": problems.has(name) });
    return make("label", { title: problems.get(name) }, box, make("span", {}, shownText(name, false), ...said));
  }));
}

// ---- The texts that are typed, each with a name

function addText(called = newName()) {
  const isFirst = byId("typed").childElementCount === 0;
  const name = make("input", { value: called, class: "name", autocomplete: "off", spellcheck: "false" });
  const text = make("textarea", { id: isFirst ? "text" : null, "aria-label": "Text", rows: 4, spellcheck: "false", autocomplete: "off", dir: "auto", placeholder: "Type or paste a text here." });
  const remove = make("button", { type: "button", class: "remove" }, "×");
  const nameRemove = () => {
    for (const key of ["aria-label", "title"]) remove.setAttribute(key, `Remove the text ${quoted(name.value)}`);
  };
  nameRemove();
  name.addEventListener("input", () => {
    nameRemove();
    fillWays();
  });
  const element = make("div", { class: "typed" }, make("div", { class: "bar" }, make("label", {}, "Name", name), remove), text);
  remove.addEventListener("click", () => {
    element.remove();
    textsChanged();
    markOld();
    byId("add").focus();
  });
  byId("typed").append(element);
  textsChanged();
  return text;
}

// "text", or "text 2" and so on: none that a text has.
function newName() {
  const taken = [...typedRows().map(([name]) => name), ...all("named")];
  const name = (n) => (n === 1 ? "text" : `text ${n}`);
  let n = byId("typed").childElementCount + 1;
  while (taken.includes(name(n))) n += 1;
  return name(n);
}

// Files may be dropped anywhere on the page: where nothing takes them, the browser leaves it.
async function dropped(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  if (event.type === "drop") await takeFiles(event.dataTransfer.files);
}

async function takeFiles(files) {
  problem(null);
  const told = [];
  for (const file of [...files]) told.push(await takeFile(file));
  const messages = told.filter((each) => each !== null);
  if (messages.length) problem(messages.join(" "));
}

// A file as a typed text, with its name: in the place of an empty one, or as one more. Returns what is to be said of it, or
// null.
async function takeFile(file) {
  if (file.size > LONGEST_FILE) {
    return `${file.name} has more than ${number(LONGEST_FILE)} bytes: name it at start, as in cbpe ui FILE.`;
  }
  const empty = [...byId("typed").children].find((each) => !each.querySelector("textarea").value);
  if (!empty && byId("add").disabled) {
    return `${MOST} texts are the most: ${file.name} is not taken.`;
  }
  let bytes;
  try {
    bytes = await file.arrayBuffer();
  } catch {
    return `${file.name} cannot be read.`; // such as a folder
  }
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const text = empty?.querySelector("textarea") ?? addText();
    text.value = content;
    const name = text.closest(".typed").querySelector(".name");
    name.value = file.name;
    name.dispatchEvent(new Event("input")); // so that its button has the name
    textsChanged();
    markOld();
    const ends = content.includes("\r") ? `${file.name} has line ends with CR, which are LF here: name it at start to compare it as it is.` : null;
    return [toldOfRows(file.name), ends].filter((each) => each !== null).join(" ") || null;
  } catch {
    return `${file.name} is not UTF-8.`;
  }
}

function textsChanged() {
  const n = byId("typed").childElementCount;
  byId("add").disabled = n >= MOST;
  for (const remove of byId("typed").querySelectorAll(".remove")) remove.hidden = n === 1;
  fillWays();
}

const rowOf = (each) => [each.querySelector(".name").value.trim(), each.querySelector("textarea").value];

// [name, text] of all
const typedRows = () => [...byId("typed").children].map(rowOf);

// [name, text] of those that are not empty
const typedTexts = () => typedRows().filter(([, text]) => text);

// ---- What is chosen

// The option of a tokenizer or a text, which stays that of a text whose name is another one now.
function optionOf(element, name) {
  const option = wayOf.get(element) ?? make("option");
  wayOf.set(element, option);
  option.value = name;
  option.textContent = spokenText(name, " ");
  return option;
}

// The tokenizers and texts that are chosen can be the one that others are measured by.
function fillWays() {
  const fill = (id, first, options) => {
    const [before] = byId(id).selectedOptions;
    byId(id).replaceChildren(make("option", { value: "" }, first), ...options);
    byId(id).selectedIndex = 1 + options.indexOf(before);
  };
  const ofBoxes = (id) => boxesOf(id).map((box) => optionOf(box, box.value));
  const ofTyped = [...byId("typed").children].filter((each) => rowOf(each)[1]).map((each) => optionOf(each, rowOf(each)[0]));
  fill("reference", "the first", ofBoxes("tokenizers"));
  fill("parallel", "no other", [...ofTyped, ...ofBoxes("named")]);
  const taken = { tokenizers: checked("tokenizers").length, named: checked("named").length + typedTexts().length };
  for (const [id, n] of Object.entries(taken)) {
    byId(`${id}-chosen`).textContent = ` (${number(checked(id).length)} of ${number(all(id).length)} chosen${n >= MOST ? `; ${MOST} are the most` : ""})`;
    for (const box of byId(id).querySelectorAll("input")) box.disabled = "problem" in box.dataset || (!box.checked && n >= MOST);
  }
}

// What is missing or too much, as a sentence; null for what can be compared.
function lacking(tokenizers, texts) {
  const many = (n, what) => (n > MOST ? `Choose ${MOST} ${what} at most: you chose ${n}.` : null);
  const again = texts.find((name, i) => texts.indexOf(name) < i);
  if (tokenizers.length === 0) return "Choose a tokenizer first.";
  if (texts.length === 0) return all("named").length ? "Type a text first, or choose one that was named at start." : "Type a text first.";
  if (texts.includes("")) return "Give each text a name.";
  if (again !== undefined) return `Two texts have the name ${quoted(again)}: give each its own.`;
  if (!byId("alpha").validity.valid || Number(byId("alpha").value) > MOST_ALPHA) return `The order of the Rényi entropy is a number from 0 to ${number(MOST_ALPHA)}.`;
  return many(tokenizers.length, "tokenizers") ?? many(texts.length, "texts");
}

async function compare() {
  if (comparing) return;
  const [tokenizers, texts, named] = [checked("tokenizers"), typedTexts(), checked("named")];
  problem(null);
  byId("said").textContent = "";
  const message = lacking(tokenizers, [...texts.map(([name]) => name), ...named]);
  if (message !== null) {
    problem(message); // what is shown stays, and says of what it is
    if (result !== null) markOld();
    return;
  }
  if (result !== null) markOld();
  byId("said").textContent = "Comparing…";
  [comparing, changed] = [true, false]; // the button stays as it is, and keeps the focus
  try {
    const ways = {};
    for (const name of ["reference", "parallel"]) if (byId(name).value) ways[name] = byId(name).value;
    if (byId("alpha").value) ways.alpha = Number(byId("alpha").value);
    const empty = typedRows().filter(([, text]) => !text).map(([name]) => name);
    const found = await send("compare", { tokenizers, texts: Object.fromEntries(texts), named, ...ways });
    result = { ...found, empty, parallel: ways.parallel ?? null };
    show();
    const notes = notesOf({ ...result, parallel: null });
    byId("said").textContent = [`Done: ${count(result.rows.length, "row")}.`, ...notes].join(" ");
    if (changed) markOld();
  } catch (error) {
    byId("said").textContent = "";
    failed(error);
  }
  comparing = false;
}

// ---- What was found

// Say that what is shown is of another choice than that which now stands above.
function markOld() {
  changed = true;
  byId("old").textContent = "Of the choice before: compare again.";
  if (!byId("result").hidden) byId("said").textContent = "";
}

// What the table does not say of itself, as sentences: what of the texts was measured.
function notesOf({ rows, cut, told, empty, parallel }) {
  const names = (found) => found.map(quoted).join(", ");
  const measured = (name) => `${quoted(name)} (${count(rows.find(({ corpus }) => corpus === name).bytes, "byte")})`;
  const notes = [];
  if (empty.length) notes.push(`Left out, since nothing stands there: ${names(empty)}.`);
  if (cut.length) notes.push(`Only the beginning was measured of ${cut.map(measured).join(", ")}.`);
  notes.push(...told.map((each) => `${each}.`));
  if (parallel !== null) notes.push(`Every line translates that of ${quoted(parallel)}, so each line was encoded alone, without its line break: tokens, bytes and all else are those of the lines.`);
  return notes;
}

function show() {
  const { rows, measures } = result;
  const used = usedMeasures(rows, measures);
  const heads = ["tokenizer", "text"].map((name) => make("th", { scope: "col" }, name));
  byId("heads").replaceChildren(make("tr", {}, ...heads, ...used.map(({ title, definition }) => make("th", { scope: "col", class: "n", title: definition }, title))));
  byId("rows").replaceChildren(...rows.map((row) => {
    const names = [make("th", { scope: "row", title: row.tokenizer }, shownText(row.tokenizer, false)), make("td", { class: "of", title: row.corpus }, shownText(row.corpus, false))];
    return make("tr", {}, ...names, ...used.map((measure) => make("td", { class: "n" }, isNumber(row[measure.key]) ? shownFigure(row[measure.key], measure) : "")));
  }));
  byId("definitions").replaceChildren(...used.flatMap(({ title, definition }) => [make("dt", {}, title), make("dd", {}, definition)]));
  byId("notes").textContent = notesOf(result).join(" ");
  byId("old").textContent = "";
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

// ---- What is kept until the tab is closed

function keep() {
  if (here === null) return;
  const texts = [...byId("typed").children].map((each) => [each.querySelector(".name").value, each.querySelector("textarea").value]);
  const short = texts.map(([name, text]) => [name, text.length <= LONGEST_KEPT ? text : ""]);
  const value = { here, tokenizers: checked("tokenizers"), named: checked("named"), texts: short };
  for (const id of ["reference", "parallel", "alpha"]) value[id] = byId(id).value;
  const shown = byId("result").hidden ? null : { result, old: byId("old").textContent !== "" };
  for (const each of [{ ...value, shown }, { ...value, shown: null, texts: [] }]) {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(each));
      return;
    } catch {
      // too long for the browser, or it keeps nothing
    }
  }
}

function keptHere() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEPT));
    return found?.here === here ? found : null;
  } catch {
    return null;
  }
}

// Fill in what was kept. Texts that somebody typed before the page was ready stay.
function takeUp(kept) {
  if (typedTexts().length === 0 && kept.texts.length) {
    byId("typed").replaceChildren();
    for (const [name, text] of kept.texts) addText(name).value = text;
  }
  textsChanged();
  for (const id of ["reference", "parallel", "alpha"]) byId(id).value = kept[id];
  if (kept.shown === null) return;
  result = kept.shown.result;
  show();
  if (kept.shown.old) markOld();
}

async function start() {
  const [{ texts }, { tokenizers }] = await Promise.all([ask("about"), ask("tokenizers")]);
  const given = tokenizers.filter((each) => each.source === "given").map((each) => each.name);
  const named = [...new Set(texts.map((each) => each.name))];
  here = JSON.stringify([given, named]);
  const kept = keptHere();
  const usual = given.length ? given.slice(0, MOST) : ["gpt2", "cl100k_base", "o200k_base"];
  boxes("tokenizers", tokenizers.map((each) => each.name), kept?.tokenizers ?? usual);
  const problems = new Map(texts.filter((each) => each.problem !== null).map((each) => [each.name, each.problem]));
  boxes("named", named, (kept?.named ?? named).filter((name) => !problems.has(name)).slice(0, kept === null ? MOST - 1 : MOST), problems);
  byId("named-field").hidden = named.length === 0;
  fillWays();
  if (kept !== null) takeUp(kept);
  byId("compare").disabled = false;
}

byId("comparing").addEventListener("submit", (event) => {
  event.preventDefault();
  compare();
});
byId("comparing").addEventListener("change", fillWays);
byId("comparing").addEventListener("input", markOld);
window.addEventListener("pagehide", keep);
for (const kind of ["dragover", "drop"]) window.addEventListener(kind, dropped);
byId("add").addEventListener("click", () => addText().focus());
byId("files").addEventListener("change", async (event) => {
  await takeFiles(event.target.files);
  event.target.value = ""; // so that the same file can be opened again
});
byId("csv").addEventListener("click", () => save("comparison.csv", "text/csv", result.csv));
byId("json").addEventListener("click", () => save("comparison.json", "application/json", JSON.stringify(result.rows, null, 1)));
byId("svg").addEventListener("click", () => save("comparison.svg", "image/svg+xml", new XMLSerializer().serializeToString(drawCharts(result.rows, result.measures))));
window.addEventListener("resize", showCharts);
addText();
begin(start);
