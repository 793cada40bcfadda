// The vocabulary: searching it, and all about one token.

import { ask, send } from "./api.js";
import { begin, failed, problem } from "./begin.js";
import { fillChoices, findChoices } from "./choices.js";
import { byId, count, followState, make, makeLink, number } from "./page.js";
import { quoted, shownText, spacedBytes, spokenText } from "./text.js";
import { drawTree, showRoot } from "./tree.js";

const PAUSE = 150; // milliseconds without a key, before a search
const LONG = 300; // milliseconds that a search takes before the page says that it searches
const TEXTS = ["text", "bytes", "pattern"];
const NUMBERS = ["least", "most"];
const LARGEST = 2 ** 32 - 1; // that the server takes
const FIELDS = [...TEXTS, ...NUMBERS, "order"];

let asked = 0; // searches; an answer to an older one is dropped
let chosen = null; // the id of the token that is shown
let shown = 0;
let choices = []; // of tokenizers

const tokenShown = (value) => (value.text === null ? make("span", { class: "unseen-character" }, spacedBytes(value.bytes)) : shownText(value.text, true, true));

// ---- Searching

// "0xe2 0x80", "e2 80", "e280" -> "e280"; null for what is no bytes
function digitsOf(bytes) {
  const found = bytes.replace(/0x(?=[0-9a-f]{2})/gi, "").replace(/[\s,]+/g, "");
  return /^([0-9a-f]{2})*$/i.test(found) ? found : null;
}

// What is wrong in the form, as a sentence; null for nothing.
function wrong() {
  if (digitsOf(byId("bytes").value) === null) return `${quoted(byId("bytes").value)} is no bytes: type pairs of hexadecimal digits, such as e2 80.`;
  if (NUMBERS.some((name) => !byId(name).validity.valid)) return "How many bytes a token has is a whole number from 0 on.";
  const [least, most] = NUMBERS.map((name) => byId(name).value);
  const large = [least, most].find((value) => Number(value) > LARGEST);
  if (large !== undefined) return `No token has ${large} bytes: give a number up to ${number(LARGEST)}.`;
  if (least && most && Number(least) > Number(most)) return `No token has ${least} bytes or more, and ${most} at most: give the smaller number first.`;
  return null;
}

// Why nothing was found, where the text may have been copied from what a page or a file shows for other characters.
function hint() {
  const text = byId("text").value;
  if (/[·Ġ␣▁]/.test(text)) return "A space is shown as · here, and as Ġ or ▁ in some files: type a space for it.";
  if (/[↵⇥]/.test(text)) return "A line break is shown as ↵ and a tab as ⇥: search for their bytes, 0a and 09.";
  return "";
}

// Show no tokens: those that were found are not what is asked for now.
function clear() {
  byId("found").replaceChildren();
  byId("count").textContent = "";
  byId("more").hidden = true;
}

async function search(offset = 0) {
  asked += 1;
  const mine = asked;
  const said = wrong();
  if (said !== null) {
    clear();
    problem(said);
    return;
  }
  const wanted = { tokenizer: byId("tokenizer").value, order: byId("order").value, offset };
  for (const name of TEXTS) if (byId(name).value) wanted[name] = byId(name).value;
  if (wanted.bytes) wanted.bytes = digitsOf(wanted.bytes);
  for (const name of NUMBERS) if (byId(name).value) wanted[name] = Number(byId(name).value);
  const waiting = setTimeout(() => {
    if (mine !== asked) return;
    if (!offset) clear(); // what stands there is no answer to this
    byId("count").textContent = "Searching…";
  }, LONG);
  try {
    const found = await send("search", wanted).finally(() => clearTimeout(waiting));
    if (mine !== asked) return;
    const rows = found.tokens.map(rowOf);
    if (offset) byId("found").append(...rows);
    else byId("found").replaceChildren(...rows);
    shown = offset + rows.length;
    const special = found.n_special ? `, ${number(found.n_special)} of them special` : "";
    byId("count").textContent = `${count(found.n_found, "token")}${special}${shown < found.n_found ? `; the first ${number(shown)} are shown` : ""}`;
    if (found.n_found === 0 && hint()) byId("count").textContent += `. ${hint()}`;
    byId("more").hidden = shown >= found.n_found;
  } catch (error) {
    if (mine !== asked) return;
    if (!offset) clear();
    failed(error);
  }
}

const linkTo = (id, attributes, ...children) => makeLink(() => addressOf(id), attributes, ...children);

function rowOf(value) {
  const link = linkTo(value.id, { "aria-label": `token ${value.id}` }, String(value.id));
  const token = make("span", { class: value.special ? "token special" : "token c0" }, tokenShown(value));
  const cells = [make("td", { class: "n" }, link), make("td", {}, token), make("td", { class: "n" }, number(value.length)), make("td", { class: "code" }, spacedBytes(value.bytes, 24))];
  return make("tr", {}, ...cells, make("td", { class: "kind" }, value.special ? "special" : value.text === null ? "not UTF-8" : ""));
}

// ---- One token

async function showToken(id) {
  const tokenizer = byId("tokenizer").value;
  const found = await ask("merges", { tokenizer, id });
  if (chosen !== id || byId("tokenizer").value !== tokenizer) return;
  byId("one-title").replaceChildren("Token ", String(found.id), ": ", make("span", { class: "token c0" }, tokenShown(found)));
  const facts = [["bytes", spacedBytes(found.bytes, Infinity)], ["length", lengthOf(found)]];
  if (found.rank !== null) facts.push(["rank of its merge", number(found.rank)]);
  facts.push(["kind", found.special ? "special token" : found.text === null ? "not UTF-8 by itself" : "text"]);
  if (!found.special) facts.push(["can a text produce it", found.unreachable === null ? "yes, as far as is known" : `no: ${found.unreachable}`]);
  byId("facts").replaceChildren(...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  byId("tree").replaceChildren(treeOf(found));
  const parents = found.part_of.map((value) => linkTo(value.id, { class: "token c1", "aria-label": `${spokenText(value.text ?? spacedBytes(value.bytes))}, token ${value.id}` }, tokenShown(value)));
  byId("parents").replaceChildren(...parents.flatMap((each) => [each, " "]));
  byId("parents").append(found.n_part_of > parents.length ? `and ${number(found.n_part_of - parents.length)} more` : found.n_part_of ? "" : "No merge takes it.");
  byId("elsewhere").replaceChildren(...found.elsewhere.map((each) => make("div", {}, make("dt", {}, make("bdi", {}, each.tokenizer)), make("dd", {}, each.id === null ? "no token" : makeLink(() => addressOf(each.id, each.tokenizer), { "aria-label": `token ${each.id} of ${each.tokenizer}` }, String(each.id))))));
  byId("elsewhere-said").textContent = found.marks.length ? "Of those that have no such marks, the token with the bytes that remain." : "";
  byId("one").hidden = false;
  showRoot(byId("tree"));
}

// How many bytes a token has, and what of them marks its place in a word.
function lengthOf({ bytes, marks }) {
  const length = number(bytes.length / 2);
  return marks.length ? `${length}, with ${marks.map((mark) => spokenText(mark)).join(" and ")}, which marks its place in a word and is in no text` : length;
}

function treeOf(found) {
  if (found.tree === null) return make("p", {}, "Its merge tree is too large to draw.");
  if (found.tree.length === 1) return make("p", {}, "No merge makes it.");
  return drawTree(found.tree, addressOf);
}

// ---- The address

function addressOf(id, tokenizer = byId("tokenizer").value) {
  const state = new URLSearchParams({ t: tokenizer });
  for (const name of FIELDS) if (byId(name).value && !(name === "order" && byId(name).value === "id")) state.set(name, byId(name).value);
  if (id !== null) state.set("id", id);
  return `#${state}`;
}

// The id that a word is; null for what is none. No vocabulary has ids of more digits.
const idOf = (word) => (/^\d{1,15}$/.test(word) ? Number(word) : null);

// What in a link means nothing here, as sentences. The fields show nothing of what they cannot hold.
function problemsOf(state) {
  const problems = [];
  const good = {
    t: (value) => [...byId("tokenizer").options].some((option) => option.value === value),
    id: (value) => idOf(value) !== null,
    order: (value) => [...byId("order").options].some((option) => option.value === value),
    ...Object.fromEntries(NUMBERS.map((name) => [name, (value) => value.trim() !== "" && Number.isFinite(Number(value))])),
    ...Object.fromEntries(TEXTS.map((name) => [name, () => true])),
  };
  for (const key of new Set(state.keys())) {
    const values = state.getAll(key);
    if (!Object.hasOwn(good, key)) problems.push(`This link has '${key}', which means nothing here.`);
    else if (values.length > 1) problems.push(`This link has '${key}' ${values.length} times; the first counts.`);
    else if (good[key](values[0])) continue;
    else if (key === "t") problems.push(`This link names a tokenizer that is not here: ${values[0]}.`);
    else problems.push(key === "id" ? noId(values[0]) : `This link says ${key}=${values[0]}, which means nothing here.`);
  }
  return problems;
}

const noId = (word) => (/^\d+$/.test(word) ? `No token has the id ${spokenText(word)}.` : `${quoted(word)} is no token id: ids are whole numbers from 0 on.`);

// Show the token whose id somebody typed.
function open(event) {
  event.preventDefault();
  const word = byId("id").value.trim();
  const id = idOf(word);
  problem(word && id === null ? noId(word) : null);
  if (id === null) return;
  if (id === chosen) showToken(id).then(() => byId("one-title").focus()).catch(failed);
  else location.hash = addressOf(id);
}

// Close what is shown of a token, and go back to its row if it is still there.
function close() {
  const row = [...byId("found").querySelectorAll("a")].find((link) => link.textContent === String(chosen));
  chosen = null;
  byId("one").hidden = true;
  history.replaceState(null, "", location.pathname + addressOf(null));
  followState();
  (row ?? byId("text")).focus();
}

// Choose the tokenizer that a link names, where there is one of that name.
async function choose(state) {
  const before = choices.length;
  const { known } = await findChoices([state.get("t")], choices);
  if (known.length === 0) return;
  if (choices.length > before) fillChoices(byId("tokenizer"), choices);
  state.set("t", known[0]);
  byId("tokenizer").value = known[0];
}

// kept: whether the fields keep what somebody typed before the page was ready, unless the address says something else.
let turns = 0; // of useState

async function useState(kept = false) {
  const state = new URLSearchParams(location.hash.slice(1));
  problem(null);
  const turn = ++turns;
  if (state.has("t")) await choose(state);
  if (turn !== turns) return; // another link was opened meanwhile
  for (const name of FIELDS) byId(name).value = state.get(name) ?? (kept && byId(name).value ? byId(name).value : "");
  if (!byId("order").value) byId("order").value = "id"; // as for an order that there is not
  const problems = problemsOf(state);
  chosen = idOf(state.get("id") ?? "");
  byId("one").hidden = true;
  followState();
  await search();
  if (problems.length) problem(problems.join(" "));
  if (chosen !== null) {
    await showToken(chosen);
    byId("one-title").focus();
  }
}

let pause = null;
let ready = false; // whether the tokenizers are known

function changed() {
  if (!ready) return;
  followState();
  clearTimeout(pause);
  pause = setTimeout(() => {
    problem(null);
    history.replaceState(null, "", location.pathname + addressOf(chosen));
    search();
  }, PAUSE);
}

async function start() {
  choices = (await ask("tokenizers")).tokenizers;
  fillChoices(byId("tokenizer"), choices);
  if (!choices.some((each) => each.source === "given")) byId("tokenizer").value = "cl100k_base";
  ready = true;
  await useState(true);
}

function listen() {
  for (const name of FIELDS) byId(name).addEventListener("input", changed);
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  byId("tokenizer").addEventListener("change", () => {
    chosen = null;
    byId("one").hidden = true;
    changed();
  });
  byId("more").addEventListener("click", () => {
    problem(null);
    search(shown);
  });
  byId("open").addEventListener("submit", open);
  byId("close").addEventListener("click", close);
}

listen();
begin(start, () => useState().catch(failed));
