// The playground: a text, and its tokens by up to four tokenizers side by side.

import { Problem, ask, send } from "./api.js";
import { begin, failed, problem } from "./begin.js";
import { fillChoices, findChoices } from "./choices.js";
import { Decoding } from "./decoding.js";
import { directionOf } from "./directions.js";
import { ExactText } from "./exact.js";
import { IdList } from "./ids.js";
import { byId, make, number } from "./page.js";
import { readState, writeState } from "./state.js";
import { drawSums } from "./sums.js";
import { shownText, spacedBytes, toldOfRows } from "./text.js";
import { markDifferences, textOfUnit, unitsOf } from "./units.js";
import { View } from "./view.js";

const MOST_COLUMNS = 4;
const SHORT = 20000; // characters that are encoded with every key
const PAUSE = 200; // milliseconds without a key, before a longer text is
const LATE = 100; // milliseconds after which what is shown of another text is dimmed
const MOST_ROWS = 100; // tokens of a group that are listed
const MOST_TOLD = 20; // rows that are read out
const EXAMPLE = "Hello, world! Tokenizers cut naïve text into pieces 👩‍🚀, 안녕하세요 too.\n    def f(x): return x + 1\n";

let limits = { bytes: 10_000_000 };
let choices = [];
let here = ""; // what was named at start
const columns = [];

const field = byId("text");
const text = new ExactText(field, byId("line-ends"));
const special = byId("special");
const marks = byId("marks");
const price = byId("price");
const decoding = new Decoding({ tokenizer: () => columns[0]?.name, marks: () => marks.checked, use: setText });

function say(message) {
  byId("said").textContent = message;
}

// ---- A column: one tokenizer, and the tokens of the text by it

class Column {
  constructor(name) {
    this.units = null;
    this.asking = false;
    this.asked = null; // what was asked last; an answer to anything else is dropped
    this.waiting = false;
    this.since = null; // when a text was changed first whose tokens are not known
    this.next = null; // when it was changed first after those were asked for that will be known next
    this.dim = null;
    this.select = make("select", { "aria-label": "Tokenizer" });
    fillChoices(this.select, choices);
    this.select.value = name;
    this.remove = make("button", { type: "button", "aria-label": "Remove this tokenizer", title: "Remove this tokenizer" }, "×");
    this.sums = make("dl", { class: "sums", "aria-live": "polite" });
    this.notice = make("p", { class: "notice", hidden: true });
    this.tokens = make("div", { class: "tokens", role: "listbox", "aria-label": `Tokens of ${name}` });
    this.list = new IdList(say);
    this.element = make("section", { class: "column", "aria-label": name }, make("div", { class: "bar" }, this.select, this.remove), this.sums, this.notice, this.tokens, this.list.element);
    this.view = new View(this.tokens, (units, unit, element) => showDetails(this, units, unit, element));
    this.select.addEventListener("change", () => {
      this.tokens.setAttribute("aria-label", `Tokens of ${this.name}`);
      this.element.setAttribute("aria-label", this.name);
      problem(null);
      this.encode();
      decoding.follow();
      remember();
    });
    this.remove.addEventListener("click", () => removeColumn(this));
  }

  get name() {
    return this.select.value;
  }

  // What is shown is of another text now: dim it, if its own tokens come late.
  changed() {
    if (this.since === null) {
      this.since = performance.now();
      this.dim = setTimeout(() => this.stale(true), LATE);
    } else if (this.asking) this.next ??= performance.now();
  }

  // The tokens that were asked for are known.
  known() {
    [this.since, this.next] = [this.next, null];
    clearTimeout(this.dim);
    const left = this.since === null ? null : this.since + LATE - performance.now();
    this.stale(left !== null && left <= 0);
    if (left > 0) this.dim = setTimeout(() => this.stale(true), left);
  }

  // Ask for the tokens of the text as it is now. One request runs at a time; the newest text is asked for after it.
  async encode() {
    this.changed();
    if (this.asking) {
      this.waiting = true;
      return;
    }
    this.asking = true;
    const asked = { tokenizer: this.name, text: text.value, special: special.checked ? "tokens" : "text" };
    this.asked = asked;
    try {
      const answer = await send("encode", asked);
      if (this.asked === asked) this.found(answer, asked.text);
    } catch (error) {
      if (this.asked === asked) {
        this.clear();
        if (error instanceof Problem && error.status !== 401) this.say(error.message);
        else failed(error);
      }
    }
    this.asking = false;
    this.known();
    if (this.waiting) {
      this.waiting = false;
      this.encode();
    }
  }

  // Dim what is shown while it is of another text than that above.
  stale(is) {
    for (const element of [this.sums, this.tokens]) element.classList.toggle("stale", is);
  }

  found(answer, text) {
    if (detailed === this) hideDetails(); // they are of what was found before
    this.units = unitsOf(answer, text);
    this.list.show(answer.ids);
    this.say(answer.no_places === null ? null : `${this.name}: ${answer.no_places}. It shows their own text, and is not compared with the others.`);
    redraw(this);
  }

  // Show nothing, as what was found is not of the text as it is now.
  clear() {
    if (detailed === this) hideDetails();
    this.units = null;
    this.list.show([]);
    this.sums.replaceChildren();
    this.view.clear();
    this.say(null);
  }

  // Show nothing, whatever is still answered.
  drop() {
    this.asked = null;
    this.waiting = false;
    this.next = null;
    this.known();
    this.clear();
  }

  say(message) {
    this.notice.textContent = message ?? "";
    this.notice.hidden = !message;
  }

  drawSums() {
    if (this.units === null) return;
    drawSums(this.sums, this.units.answer, Number.parseFloat(price.value));
  }
}

// Draw the tokens of a column that were found; of the others of the same text those whose differences have changed by
// that. Those of a text before it wait for their own.
function redraw(changed) {
  const found = columns.filter((column) => column.units !== null && (changed === null || column.units.text === changed.units.text));
  const marked = found.map((column) => column.units.differs);
  markDifferences(found.map((column) => column.units));
  found.forEach((column, i) => {
    const same = sameMarks(marked[i], column.units.differs);
    if (column === changed || changed === null || !same) column.view.draw(column.units, marks.checked);
    column.drawSums();
  });
  byId("legend").hidden = columns.length < 2;
}

function sameMarks(a, b) {
  return a === b || (a !== null && b !== null && a.length === b.length && a.every((each, i) => each === b[i]));
}

function addColumn(name) {
  const column = new Column(name);
  columns.push(column);
  byId("columns").append(column.element);
  columnsChanged();
  return column;
}

function removeColumn(column) {
  if (detailed === column) hideDetails();
  columns.splice(columns.indexOf(column), 1);
  column.element.remove();
  columnsChanged();
  redraw(null);
  remember();
  columns[0].select.focus();
}

function columnsChanged() {
  byId("add").disabled = columns.length >= MOST_COLUMNS;
  for (const column of columns) column.remove.hidden = columns.length === 1;
  decoding.follow();
}

// ---- One token, or a group of them

let partsWanted = null;
let detailed = null; // the column whose token is shown

function showDetails(column, units, unit, element) {
  detailed = column;
  document.querySelector(".token.shown")?.classList.remove("shown");
  element.classList.add("shown");
  const { answer, first } = units;
  const details = byId("details");
  const shown = [];
  const n = first[unit + 1] - first[unit];
  if (n > 1) {
    shown.push(make("h2", {}, `${n} tokens that share characters of `, shownText(textOfUnit(units, unit), true)));
  }
  const end = Math.min(first[unit + 1], first[unit] + MOST_ROWS);
  for (let token = first[unit]; token < end; token += 1) shown.push(rowOf(units, token));
  if (n > MOST_ROWS) shown.push(make("p", { class: "keys" }, `and ${number(n - MOST_ROWS)} more`));
  details.replaceChildren(...shown);
  details.hidden = false;
  clearTimeout(partsWanted);
  partsWanted = setTimeout(async () => {
    await showParts(answer.tokenizer, answer.ids[first[unit]], shown[n > 1 ? 1 : 0]);
    if (document.activeElement === element) byId("told").textContent = shown.slice(0, MOST_TOLD).map(spokenRow).join(". ");
  }, 120);
}

function pair(name, ...value) {
  return make("div", {}, make("dt", {}, name), make("dd", {}, ...value));
}

// What a row says, for those who hear it.
function spokenRow(row) {
  if (row.tagName !== "DL") return row.textContent;
  return [...row.children].map((each) => `${each.firstChild.textContent} ${each.lastChild.textContent}`).join(", ");
}

// To the page of a token in the vocabulary.
const linkTo = (tokenizer, id) => make("a", { href: `/vocabulary#${new URLSearchParams({ t: tokenizer, id })}`, "aria-label": `${id}, in the vocabulary` }, String(id));

function rowOf({ answer, placed }, token) {
  const id = answer.ids[token];
  const value = answer.tokens[id];
  const text = value.text === null ? "not UTF-8 by itself" : shownText(value.text, true, true);
  const rows = [pair("token", text), pair("id", linkTo(answer.tokenizer, id)), pair("bytes", spacedBytes(value.bytes))];
  if (placed) rows.push(pair("characters", `${answer.starts[token]}–${answer.ends[token]}`));
  rows.push(pair("number in the text", number(token + 1)));
  if (value.special) rows.push(pair("kind", "special token"));
  return make("dl", {}, ...rows);
}

async function showParts(tokenizer, id, row) {
  try {
    const { parts } = await ask("token", { tokenizer, id });
    if (!row.isConnected || !parts) return;
    const said = parts.flatMap((part, i) => [i ? " + " : "", part.text === null ? spacedBytes(part.bytes) : shownText(part.text, true, true), " (", linkTo(tokenizer, part.id), ")"]);
    row.append(pair("merged from", ...said));
  } catch (error) {
    failed(error);
  }
}

function hideDetails() {
  const within = byId("details").contains(document.activeElement);
  byId("told").textContent = "";
  if (within) document.querySelector(".token.shown")?.focus(); // which would show them again
  clearTimeout(partsWanted);
  detailed = null;
  byId("details").hidden = true;
  document.querySelector(".token.shown")?.classList.remove("shown");
}

// ---- The text, and what goes into the address

let pause = null;

function textChanged() {
  hideDetails();
  byId("said").textContent = "";
  turnText();
  for (const column of columns) column.changed();
  clearTimeout(pause);
  if (text.value.length <= SHORT) encodeAll();
  else pause = setTimeout(encodeAll, PAUSE);
}

// Of a text of megabytes, the browser's own way (dir="auto") takes seconds.
function turnText() {
  field.dir = directionOf(text.value.slice(0, 1000)) ?? "ltr";
}

function encodeAll() {
  if (columns.length === 0) return; // before the tokenizers are known
  if (3 * text.value.length > limits.bytes && new Blob([text.value]).size > limits.bytes) {
    problem(`This text has more than ${number(limits.bytes)} bytes: cbpe count and cbpe compare take files of any size.`);
    for (const column of columns) column.drop();
    return;
  }
  problem(null);
  for (const column of columns) column.encode();
  remember();
}

let remembering = null;

function remember() {
  if (columns.length === 0) return; // before the tokenizers are known; the address still says what to show
  clearTimeout(remembering);
  remembering = setTimeout(rememberNow, 150);
}

function rememberNow() {
  clearTimeout(remembering);
  return writeState({
    tokenizers: columns.map((column) => column.name), text: text.value, special: special.checked, marks: marks.checked,
    price: price.value, typed, before: own, ids: byId("ids").value,
  }, here);
}

let own = null; // what somebody typed, once another text took its place
let typed = false; // whether what stands there was typed

// A text in place of that which stands there. One that somebody typed can be brought back.
function setText(content) {
  putText(content);
  textChanged();
}

function putText(content) {
  if (typed && text.value && text.value !== content) own = text.value;
  typed = typed && text.value === content;
  if (text.value !== content) notNamed();
  text.value = content;
  byId("back").hidden = own === null || own === content;
}

// Returns what is to be said of the file that stands there now; null where it could not be opened.
async function openFile(file) {
  if (!file) return null;
  say("");
  if (file.size > limits.bytes) {
    problem(`${file.name} has more than ${number(limits.bytes)} bytes: name it at start, as in cbpe ui FILE, to see its beginning.`);
    return null;
  }
  try {
    setText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer()));
  } catch {
    problem(`${file.name} is not UTF-8.`);
    return null;
  }
  const told = toldOfRows(file.name) ?? "";
  say(told);
  return told;
}

// Files may be dropped anywhere on the page: where nothing takes them, the browser leaves it.
async function dropped(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  field.classList.toggle("dropping", event.type === "dragover");
  if (event.type !== "drop") return;
  const { files } = event.dataTransfer;
  const n = files.length; // which the browser forgets after the event
  const told = await openFile(files[0]);
  if (n > 1 && told !== null) say(`${n} files were dropped; this is the first. ${told}`.trimEnd());
}

// The number of the first text named at start that can be read.
const firstNamed = () => [...byId("texts").options].find((option) => option.value !== "" && !option.disabled)?.value;

async function openNamed(index) {
  const found = await ask("text", { number: index });
  setText(found.text);
  byId("texts").value = index;
  sayWhole(found.whole);
}

// The list says which text was chosen, as long as it stands there, and takes the same again once another one does.
function notNamed() {
  byId("texts").value = "";
}

function sayWhole(whole) {
  byId("said").textContent = whole ? "" : "This is the beginning of the file: what comes after it is not counted.";
}

async function copyLink() {
  const whole = rememberNow();
  const said = byId("said");
  try {
    await navigator.clipboard.writeText(location.href);
    said.textContent = whole ? "Copied." : "Copied, without the text, which is too long for a link.";
  } catch {
    said.textContent = "The address of this page is the link.";
  }
}

// ---- Start

// kept: whether the text stays that is there, as somebody typed it before the page was ready.
let turns = 0; // of useState

async function useState(kept = false) {
  const state = readState(here);
  special.checked = state.special;
  marks.checked = state.marks;
  price.value = state.price;
  sayOfPrice();
  const turn = ++turns;
  const { known, unknown } = await findChoices(state.tokenizers, choices);
  if (turn !== turns) return; // another link was opened meanwhile
  const given = choices.filter((choice) => choice.source === "given").map((choice) => choice.name);
  if (!known.length && given.length > MOST_COLUMNS) state.problems.push(`${given.length} tokenizers were given; the first ${MOST_COLUMNS} are shown, and the lists have all.`);
  const wanted = known.length ? known : given.length ? given.slice(0, MOST_COLUMNS) : ["cl100k_base"];
  for (const column of columns.splice(0)) column.element.remove();
  decoding.takeUp(state.ids);
  wanted.forEach(addColumn);
  hideDetails();
  if (!kept || !text.value) {
    if (state.text !== null) {
      putText(state.text);
      sayWhole(true);
    } else if (firstNamed() !== undefined && !text.value) {
      const found = await ask("text", { number: firstNamed() });
      text.value = found.text;
      byId("texts").value = firstNamed();
      sayWhole(found.whole);
    } else if (!text.value) text.value = EXAMPLE;
  }
  if (state.typed && text.value === state.text) typed = true;
  own = state.before ?? own;
  byId("back").hidden = own === null || own === text.value;
  turnText();
  encodeAll();
  if (unknown.length) state.problems.push(`This link names tokenizers that are not here: ${unknown.join(", ")}.`);
  if (state.problems.length) problem(state.problems.join(" "));
}

async function start() {
  const [about, found] = await Promise.all([ask("about"), ask("tokenizers")]);
  limits = about.limits;
  choices = found.tokenizers;
  here = JSON.stringify([about.texts.map((each) => each.name), choices.filter((each) => each.source === "given").map((each) => each.name)]);
  byId("texts").replaceChildren(make("option", { value: "" }, "choose…"), ...about.texts.map((each) => make("option", { value: each.number, disabled: each.problem !== null, title: each.problem }, each.problem === null ? each.name : `${each.name} (cannot be read)`)));
  byId("texts-label").hidden = about.texts.length === 0;
  await useState(true);
}

function sayOfPrice() {
  byId("price-said").textContent = price.validity.valid ? "" : "A price is a number from 0 on.";
}

function listen() {
  field.addEventListener("input", () => {
    typed = true;
    notNamed();
    textChanged();
  });
  byId("back").addEventListener("click", () => {
    setText(own);
    typed = true;
    field.focus();
  });
  window.addEventListener("pagehide", () => columns.length && rememberNow());
  special.addEventListener("change", encodeAll);
  marks.addEventListener("change", () => {
    redraw(null);
    decoding.redraw();
    remember();
  });
  price.addEventListener("input", () => {
    sayOfPrice();
    for (const column of columns) column.drawSums();
    remember();
  });
  byId("add").addEventListener("click", () => {
    const next = choices.find((choice) => !columns.some((column) => column.name === choice.name)) ?? choices[0];
    problem(null);
    addColumn(next.name).encode();
    remember();
  });
  byId("file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    event.target.value = ""; // so that the same file can be opened again
    openFile(file);
  });
  byId("texts").addEventListener("change", (event) => event.target.value !== "" && openNamed(event.target.value).catch((error) => {
    notNamed();
    failed(error);
  }));
  byId("link").addEventListener("click", copyLink);
  byId("ids").addEventListener("input", remember);
  for (const kind of ["dragover", "dragleave", "drop"]) window.addEventListener(kind, dropped);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hideDetails());
  byId("columns").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches(".token")) byId("details").querySelector("a")?.focus();
  });
}

listen();
begin(start, () => useState().catch(failed));
