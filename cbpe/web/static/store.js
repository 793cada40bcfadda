// The model store: its versions, all about one of them, and two compared. Nothing here changes it.

import { ask } from "./api.js";
import { begin, failed, problem } from "./begin.js";
import { fillChoices } from "./choices.js";
import { drawCurve } from "./curve.js";
import { hideDifference, showDifference } from "./difference.js";
import { drawLineage } from "./lineage.js";
import { byId, followState, make, makeLink, number } from "./page.js";
import { quoted, shortened, shownText } from "./text.js";

const DIGITS_IN_LIST = 10; // of a metric
const PAUSE = 150; // milliseconds without a key, before a search
const LONGEST_LABEL = 32; // of a tag, of its value and of the name of a metric, in the list
const MOST_OF_NOTES = 100000; // characters that the server says
const FIELDS = ["prefix", "tag", "metric", "order"];
const USUAL_ORDER = "-time";

let asked = 0; // lists; an answer to an older one is dropped
let shown = 0; // versions
let told = 0; // changes of the log
let chosen = null; // the version that is shown: its reference
let trained = null; // the training of the version that is shown
let logged = null; // the name whose changes the log shows; null for all
let compared = null; // the two that are compared
let offered = null; // what can be compared, as JSON

const plain = (text) => shownText(text, false);
const inCell = (text) => make("span", { class: "reference" }, plain(text));

const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

// "2026-11-23T07:11:01+00:00" -> the same in the zone of the browser, to the minute, and in UTC under the pointer
function moment(iso) {
  const time = new Date(iso);
  const local = new Date(time.getTime() - 60000 * time.getTimezoneOffset());
  const shown = (date, most) => date.toISOString().slice(0, most).replace("T", " ");
  return make("time", { datetime: iso, class: "code", title: `${shown(time, 19)} UTC` }, shown(local, 16));
}

// ---- The address

function addressOf(changes = {}) {
  const state = new URLSearchParams();
  const { version, two } = { version: chosen, two: compared, ...changes };
  for (const name of FIELDS) if (byId(name).value && byId(name).value !== USUAL_ORDER) state.set(name, byId(name).value);
  if (version) state.set("v", version);
  if (two) {
    state.set("a", two[0]);
    state.set("b", two[1]);
  }
  return `#${state}`;
}

const linkTo = (reference, said = reference) => makeLink(() => addressOf({ version: reference }), { class: "reference", title: said === reference ? null : reference }, plain(said));
const remember = () => history.replaceState(null, "", location.pathname + addressOf());

// ---- The list

async function list(offset = 0) {
  asked += 1;
  const mine = asked;
  const wanted = { offset, order: byId("order").value };
  for (const name of ["prefix", "tag", "metric"]) if (byId(name).value) wanted[name] = byId(name).value;
  const byMetric = wanted.order.endsWith("metric");
  const metric = (wanted.metric ?? "").split("=")[0];
  if (byMetric) wanted.order = metric ? `${wanted.order}:${metric}` : USUAL_ORDER;
  try {
    const [found] = await Promise.all([ask("versions", wanted), offset ? null : showStore()]);
    if (mine !== asked) return;
    const rows = found.versions.map(rowOf);
    if (offset) byId("found").append(...rows);
    else byId("found").replaceChildren(...rows);
    shown = offset + rows.length;
    const count = found.more ? `The first ${number(shown)} versions.` : `${number(shown)} ${shown === 1 ? "version" : "versions"}.`;
    byId("count").textContent = byMetric && !metric ? `${count} To sort by a metric, name it; until then the newest come first.` : count;
    byId("more").hidden = !found.more;
  } catch (error) {
    if (mine !== asked) return;
    if (!offset) noList();
    failed(error);
  }
}

// A list that failed leaves nothing that would pass for it.
function noList() {
  byId("found").replaceChildren();
  byId("count").textContent = "";
  byId("more").hidden = true;
}

// What does not fit is in the title.
const chipOf = (kind, title, ...content) => make("span", { class: kind, title }, ...content);
const left = (n, all) => (all > n ? [` and ${number(all - n)} more`] : []);
const spaced = (chips) => chips.flatMap((each) => [each, " "]);

const aliasesOf = (version) => [...spaced(version.aliases.map((alias) => chipOf("chip", alias, plain(alias)))), ...left(version.aliases.length, version.n_aliases)];

// most: characters of a name and of a value, whose beginning and end tell them apart.
function tagsOf(version, most = Infinity) {
  const tags = Object.entries(version.tags);
  const said = (text) => plain(shortened(text, most));
  return [...spaced(tags.map(([key, value]) => chipOf("chip", value ? `${key} = ${value}` : key, said(key), ...(value ? [" = ", said(value)] : [])))), ...left(tags.length, version.n_tags)];
}

// Of one version with all their digits, in a list with so many that what somebody typed stays as it is.
function metricsOf(version, most = Infinity) {
  const metrics = Object.entries(version.metrics);
  const said = (value) => String(most === Infinity ? value : Number(value.toPrecision(DIGITS_IN_LIST)));
  return [...spaced(metrics.map(([key, value]) => chipOf("chip figure", `${key} ${value}`, make("span", { class: "key" }, plain(shortened(key, most))), " ", make("b", {}, said(value))))), ...left(metrics.length, version.n_metrics)];
}

const isDigest = (parent) => parent.startsWith("sha256:");
const parentOf = (version) => (version.parent === null ? "" : isDigest(version.parent) ? make("span", { title: version.parent }, `${version.parent.slice(0, 15)}…`) : linkTo(version.parent));

function rowOf(version) {
  const cell = (...content) => make("td", {}, ...content);
  const cells = [make("td", { class: "n" }, number(version.vocab_size)), cell(...aliasesOf(version)), cell(parentOf(version))];
  return make("tr", {}, make("th", { scope: "row" }, linkTo(version.reference)), ...cells, cell(moment(version.time)), cell(...tagsOf(version, LONGEST_LABEL)), cell(...metricsOf(version, LONGEST_LABEL)));
}

// ---- One version

const fact = ([name, ...value]) => make("div", {}, make("dt", {}, name), make("dd", {}, ...value));

async function showVersion(reference, version) {
  const { name } = version;
  const [{ moves, n_moves }, lineage] = await Promise.all([ask("aliases", { name }), ask("lineage", { name })]);
  if (chosen !== reference) return;
  byId("one-title").replaceChildren(plain(version.reference));
  byId("links").replaceChildren(...linksOf(version).flatMap((link, i) => (i ? [" · ", link] : [link])));
  byId("facts").replaceChildren(...factsOf(version).map(fact));
  const labels = [["aliases", aliasesOf(version)], ["tags", tagsOf(version)], ["metrics", metricsOf(version)]].filter(([, chips]) => chips.length);
  byId("labels").replaceChildren(...labels.map(([title, chips]) => make("p", {}, make("span", { class: "dim" }, title), " ", ...chips)));
  byId("notes").replaceChildren(version.notes === null ? "" : plain(version.notes), ...moreNotes(version));
  byId("notes").hidden = version.notes === null;
  byId("lineage").replaceChildren(drawLineage(lineage.versions, name, version.reference, linkTo));
  byId("lineage-said").textContent = lineage.whole ? "" : "There are more: those nearest to this name are drawn, of the newest in the store.";
  const where = (move) => (move.number === null ? "removed" : linkTo(`${name}@${move.number}`));
  byId("moves").replaceChildren(...moves.map((move) => make("tr", {}, make("th", { scope: "row" }, inCell(move.alias)), make("td", {}, where(move)), make("td", {}, moment(move.time)))));
  byId("moves-said").textContent = n_moves ? (n_moves > moves.length ? `The newest ${number(moves.length)} of ${number(n_moves)} moves.` : "") : "It has had none.";
  byId("moves").closest(".scroll").hidden = n_moves === 0;
  byId("one").hidden = false;
  showTraining(version.training); // which looks how wide it is
  const [graph, row] = [byId("lineage").firstChild, byId("lineage").querySelector("[aria-current]")];
  if (row) graph.scrollTop = row.getBoundingClientRect().top - graph.getBoundingClientRect().top - graph.clientHeight / 2;
}

// Of notes that are cut, how much more there is, in a line below.
function moreNotes({ notes, n_notes: all }) {
  const shown = notes === null || [...notes].length <= MOST_OF_NOTES ? all : MOST_OF_NOTES;
  return all > shown ? [make("p", { class: "keys" }, `and ${number(all - shown)} more characters, which cbpe models show has`)] : [];
}

function linksOf(version) {
  const { reference, parent } = version;
  const found = [make("a", { href: `/#${new URLSearchParams({ t: reference })}` }, "Playground"), make("a", { href: `/vocabulary#${new URLSearchParams({ t: reference })}` }, "Vocabulary")];
  if (parent !== null && !isDigest(parent)) found.push(makeLink(() => addressOf({ two: [parent, reference] }), {}, "Compare with its parent"));
  return found;
}

function factsOf(version) {
  const facts = [
    ["tokens", number(version.vocab_size)],
    ["merges", number(version.n_merges)],
    ["special tokens", number(version.n_special_tokens)],
    ["class", version.class],
    ["merges by", version.semantics],
    ["saved", moment(version.time)],
  ];
  if (version.encoding !== null) facts.push(["encoding", plain(version.encoding)]);
  if (version.parent !== null) facts.push(["training went on from", parentOf(version)]);
  if (version.unicode_version !== null) facts.push(["Unicode", plain(version.unicode_version)]);
  if (version.pattern !== null) facts.push(["split pattern", make("span", { class: "code" }, plain(version.pattern))]);
  facts.push(["SHA-256", make("span", { class: "code" }, version.digest)]);
  return facts;
}

function showTraining(training) {
  const facts = training === null ? [] : [
    ["text", plain(training.source)],
    ["bytes", number(training.text_bytes)],
    ...(training.covered_bytes === training.text_bytes ? [] : [["bytes of the curve", number(training.covered_bytes)]]),
    ...(training.dropped_occurrences ? [["left out", `rare words, which occurred ${number(training.dropped_occurrences)} times`]] : []),
    ["distinct pieces", number(training.distinct_pieces)],
    ["seconds", number(training.seconds, 2)],
    ["cbpe", plain(training.cbpe_version)],
    ...(training.stopped === null ? [] : [["stopped", plain(training.stopped)]]),
  ];
  byId("training").replaceChildren(...facts.map(fact));
  trained = training;
  showCurve();
}

// As wide as there is place for it, so that its figures can be read in a narrow window too.
function showCurve() {
  byId("curve").replaceChildren(trained === null ? make("p", { class: "keys" }, "It was not trained here.") : drawCurve(trained.curve, trained.began_at, byId("curve").clientWidth));
}

// ---- The log, of the name that is shown or of all

// The name that a reference says; null for a digest, which says none.
const nameIn = (reference) => (reference === null || isDigest(reference) ? null : reference.replace(/@[^@]*$/, ""));

async function showLog(offset = 0) {
  const name = logged;
  const { changes, more } = await ask("log", name === null ? { offset } : { name, offset });
  if (name !== logged) return;
  const rows = changes.map((change) => {
    const version = change.name === null ? "" : change.number === null ? inCell(change.name) : inCell(`${change.name}@${change.number}`);
    return make("tr", {}, make("td", {}, moment(change.time)), make("td", {}, change.who === null ? "" : inCell(change.who)), make("td", {}, plain(change.action)), make("td", {}, version), make("td", {}, plain(change.said)));
  });
  if (offset) byId("log").append(...rows);
  else byId("log").replaceChildren(...rows);
  told = offset + rows.length;
  byId("log-said").replaceChildren(...(name === null ? ["All changes, the newest first."] : ["Changes under the name ", plain(name), ", the newest first."]));
  byId("earlier").hidden = !more;
}

// ---- What the address names

// The version that is chosen, and the log of its name, which a digest does not say.
async function showChosen() {
  const mine = chosen;
  let [version, error] = [null, null];
  try {
    if (mine !== null) version = await ask("version", { reference: mine });
  } catch (caught) {
    error = caught;
  }
  if (chosen !== mine) return;
  logged = version === null ? nameIn(mine) : version.name;
  const log = showLog().catch((caught) => {
    noLog();
    throw error ?? caught; // what is wrong with the version says more
  });
  await Promise.all([log, version === null ? null : showVersion(mine, version)]);
  if (error !== null) throw error;
}

function noLog() {
  byId("log").replaceChildren();
  byId("log-said").textContent = "";
  byId("earlier").hidden = true;
}

// What an address says that the page does not know, as a sentence; null for nothing.
function unknownIn(state) {
  const keys = [...state.keys()].filter((key) => ![...FIELDS, "v", "a", "b"].includes(key));
  if (keys.length) return `This link has ${quoted(keys[0])}, which means nothing here: the page takes ${[...FIELDS, "v", "a"].join(", ")} and b.`;
  return state.has("a") === state.has("b") ? null : "This link names one tokenizer to compare: it takes both a and b.";
}

// Choose a version in a list, which may lack it: an older one of a large store.
function choose(select, name) {
  if (![...select.options].some((option) => option.value === name)) select.append(make("option", { value: name }, name));
  select.value = name;
}

// Say that the two that are shown are others than those which now stand above.
function markOld() {
  const isOld = compared !== null && !byId("difference").hidden && ["a", "b"].some((id, i) => byId(id).value !== compared[i]);
  byId("old").textContent = isOld ? "Of the choice before: compare again." : "";
}

async function showCompared() {
  if (compared === null) {
    hideDifference();
    markOld();
    return;
  }
  choose(byId("a"), compared[0]);
  choose(byId("b"), compared[1]);
  markOld();
  await showDifference(...compared, markOld);
}

function changed() {
  followState();
  clearTimeout(changed.pause);
  changed.pause = setTimeout(() => {
    problem(null);
    remember();
    list();
  }, PAUSE);
}

async function useState() {
  const state = new URLSearchParams(location.hash.slice(1));
  const [version, two] = [state.get("v"), state.has("a") && state.has("b") ? [state.get("a"), state.get("b")] : null];
  const [isOther, areOthers] = [version !== chosen, String(two) !== String(compared)];
  [chosen, compared] = [version, two];
  for (const name of FIELDS) byId(name).value = state.get(name) ?? (name === "order" ? USUAL_ORDER : "");
  if (!byId("order").value) byId("order").value = USUAL_ORDER;
  followState();
  problem(unknownIn(state));
  if (chosen === null || isOther) byId("one").hidden = true;
  await Promise.all([list(), showChosen(), areOthers ? showCompared() : null]);
  if (areOthers && compared !== null) focusOn("comparing-title");
  else if (isOther && chosen !== null) focusOn("one-title");
}

function focusOn(id) {
  byId(id).focus({ preventScroll: true });
  byId(id).scrollIntoView();
}

// Where the store is, its names, and what can be compared: as they are now. Returns whether there is a store.
async function showStore() {
  const [found, { tokenizers }] = await Promise.all([ask("store"), ask("tokenizers")]);
  byId("with").hidden = found.store === null;
  byId("without").hidden = found.store !== null;
  byId("where").replaceChildren();
  if (found.store === null) {
    byId("why").replaceChildren("There is nothing to show: ", plain(found.why), ".");
    byId("how").hidden = !found.missing;
    return false;
  }
  byId("where").replaceChildren(plain(found.store), `, ${number(found.n_names)} ${found.n_names === 1 ? "name" : "names"}; times are those of ${zone()}`);
  byId("names").replaceChildren(...found.names.map((name) => make("option", { value: name })));
  fillTwo(tokenizers);
  return true;
}

// Fill the choice of two: what was chosen stays, if it is still there or is what is shown.
function fillTwo(tokenizers) {
  const stored = tokenizers.filter((each) => each.source === "store");
  const first = [...stored, ...tokenizers.filter((each) => each.source !== "store")];
  const names = JSON.stringify(first);
  if (names === offered) return;
  offered = names;
  for (const [i, id] of ["a", "b"].entries()) {
    const before = byId(id).value;
    fillChoices(byId(id), first);
    if (compared !== null && compared[i] === before) choose(byId(id), before);
    else if (first.some((each) => each.name === before)) byId(id).value = before;
    else byId(id).value = first[Math.min(1 - i, stored.length - 1)]?.name ?? first[0].name;
  }
  markOld();
}

async function start() {
  if (await showStore()) await useState();
}

function listen() {
  for (const name of FIELDS) byId(name).addEventListener("input", changed);
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("resize", () => byId("one").hidden || showCurve());
  byId("more").addEventListener("click", () => {
    problem(null);
    list(shown);
  });
  byId("earlier").addEventListener("click", () => showLog(told).catch(failed));
  byId("close").addEventListener("click", () => {
    location.hash = addressOf({ version: null });
    byId("prefix").focus();
  });
  byId("two").addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = addressOf({ two: [byId("a").value, byId("b").value] });
  });
  byId("two").addEventListener("change", markOld);
  byId("swap").addEventListener("click", () => {
    location.hash = addressOf({ two: [byId("b").value, byId("a").value] });
  });
}

listen();
begin(start, () => useState().catch(failed));
