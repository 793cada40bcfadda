// Two tokenizers compared: what only one of them has, and both on a text.

import { ask, send } from "./api.js";
import { failed } from "./begin.js";
import { byId, make, number } from "./page.js";
import { drawSums } from "./sums.js";
import { shownText, spacedBytes } from "./text.js";
import { markDifferences, textOfUnit, unitsOf } from "./units.js";
import { View } from "./view.js";

const EXAMPLE = "The quick brown fox jumps over the lazy dog.\n    return naïve + 12345  # 안녕하세요\n";
const PAUSE = 150; // milliseconds without a key

let two = null; // the names of both
let views = []; // of the text

const plain = (text) => shownText(text, false);
const count = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;

function tokenShown(value, colour = "c0") {
  const shown = value.text === null ? make("span", { class: "unseen-character" }, spacedBytes(value.bytes, 16)) : shownText(value.text, true, true);
  return make("span", { class: `token ${colour}` }, shown);
}

export function hideDifference() {
  two = null;
  byId("difference").hidden = true;
}

// onShown: called when it stands there.
export async function showDifference(a, b, onShown) {
  const mine = [a, b];
  hideDifference(); // what stands there is of others, and would stay if this fails
  two = mine;
  const found = await ask("diff", { a, b });
  if (two !== mine) return;
  const sums = [[`only in a`, found.n_only_a], [`only in b`, found.n_only_b], ["under other ids", found.n_moved]];
  sums.push(["special tokens that differ", found.n_special_only_a + found.n_special_only_b + found.n_special_moved]);
  byId("sums").replaceChildren(...sums.map(([name, n]) => make("div", {}, make("dt", {}, name), make("dd", {}, number(n)))));
  byId("verdict").replaceChildren(...verdict(found));
  byId("settings").replaceChildren(...pairs(found));
  byId("tokens").replaceChildren(...lists(found));
  if (!byId("text").value) byId("text").value = EXAMPLE;
  drawColumns(found);
  byId("difference").hidden = false;
  onShown();
  await encode();
}

// What differs on the whole, in a sentence.
function verdict(found) {
  const [a, b] = [make("b", {}, plain(found.a)), make("b", {}, plain(found.b))];
  if (found.same) return [a, " and ", b, " give the same results on every text."];
  const [first, more] = [found.first_merge, found.more_merges];
  if (more !== null) {
    const [longer, shorter] = more > 0 ? [b, a] : [a, b];
    return [longer, " has all merges of ", shorter, ` and ${number(Math.abs(more))} more.`];
  }
  if (first === null) return [a, " and ", b, " have the same merges."];
  return [a, " and ", b, first.rank ? ` have the same merges up to rank ${number(first.rank - 1)}.` : " differ from the first merge on."];
}

function mergeOf(pair) {
  return pair === null ? ["none"] : [tokenShown(pair[0]), " + ", tokenShown(pair[1], "c1")];
}

function pairs(found) {
  const rows = found.settings_said.map(([name, a, b]) => [name, [plain(a)], [plain(b)]]);
  const first = found.first_merge;
  if (first !== null) rows.unshift([`first merge that differs, of rank ${number(first.rank)}`, mergeOf(first.a), mergeOf(first.b)]);
  return rows.flatMap(([name, a, b]) => [make("dt", {}, name), make("dd", {}, make("span", { class: "dim" }, "a "), ...a), make("dd", {}, make("span", { class: "dim" }, "b "), ...b)]);
}

function listOf(title, n, values, said) {
  if (n === 0) return null;
  const first = values.length < n ? `, the first ${number(values.length)}` : "";
  const chips = values.flatMap((value) => [make("span", { class: "pair" }, tokenShown(value, value.bytes === undefined ? "special" : "c0"), " ", make("span", { class: "dim" }, said(value))), " "]);
  return make("details", { open: n <= 40 }, make("summary", {}, `${title}: ${count(n, "token")}${first}`), make("p", { class: "chips" }, ...chips));
}

function lists(found) {
  const moved = (value) => `${value.ids_a.join(", ")} → ${value.ids_b.join(", ")}`;
  return [
    listOf("Only in a", found.n_only_a, found.only_a, (value) => value.id),
    listOf("Only in b", found.n_only_b, found.only_b, (value) => value.id),
    listOf("Under other ids", found.n_moved, found.moved, moved),
    listOf("Special, only in a", found.n_special_only_a, found.special_only_a, (value) => value.id),
    listOf("Special, only in b", found.n_special_only_b, found.special_only_b, (value) => value.id),
    listOf("Special, under other ids", found.n_special_moved, found.special_moved, (value) => `${value.id_a} → ${value.id_b}`),
  ].filter((each) => each !== null);
}

// ---- Both on a text

function drawColumns(found) {
  const columns = [["a", found.a], ["b", found.b]].map(([side, name]) => {
    const sums = make("dl", { class: "sums" });
    const notice = make("p", { class: "notice", hidden: true });
    const tokens = make("div", { class: "tokens", role: "listbox", "aria-label": `Tokens of ${side}` });
    const element = make("section", { class: "column", "aria-label": `The text by ${side}` }, make("div", { class: "bar" }, make("b", {}, plain(name))), sums, notice, tokens);
    return { name, sums, notice, element, view: new View(tokens, tell) };
  });
  views = columns;
  byId("columns").replaceChildren(...columns.map((column) => column.element));
  byId("told").textContent = "";
}

function tell(units, unit) {
  const { answer, first } = units;
  const ids = [];
  for (let token = first[unit]; token < first[unit + 1]; token += 1) ids.push(`${answer.ids[token]} (${spacedBytes(answer.tokens[answer.ids[token]].bytes, 16)})`);
  byId("told").replaceChildren(make("span", { class: "token c0" }, shownText(textOfUnit(units, unit), true)), `: ${ids.length > 1 ? "ids" : "id"} and bytes ${ids.join(", ")}`);
}

async function encode() {
  const text = byId("text").value;
  const mine = views;
  const found = await Promise.all(mine.map((column) => send("encode", { tokenizer: column.name, text }).then((answer) => [answer, null], (error) => [null, error])));
  if (mine !== views || text !== byId("text").value) return;
  const units = found.map(([answer]) => (answer === null ? null : unitsOf(answer, text)));
  if (units.every((each) => each !== null)) markDifferences(units);
  mine.forEach((column, i) => {
    const [answer, error] = found[i];
    const said = answer === null ? error.message : answer.no_places;
    column.notice.textContent = said ?? "";
    column.notice.hidden = !said;
    if (answer === null) column.sums.replaceChildren();
    else drawSums(column.sums, answer);
    if (units[i] !== null) column.view.draw(units[i], true);
    else column.view.clear();
  });
  const problem = found.find(([, error]) => error?.status === 401);
  if (problem) failed(problem[1]);
}

let pause = null;

byId("text").addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(encode, PAUSE);
});
