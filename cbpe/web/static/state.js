// The state of the playground: in the fragment of its address, so that a link shows the same, and in the tab's session,
// so that it is there again after a reload, and when somebody comes back from another page.

import { number } from "./page.js";

const LONGEST = 20000; // characters of a text that a link holds
const MOST_TOKENIZERS = 4;
const KEPT = "cbpe-playground";
const LEFT_OUT = "left-out"; // how many characters the text has that is too long for the link
const KEYS = {
  t: () => true,
  text: () => true,
  special: (value) => ["text", "tokens"].includes(value),
  marks: (value) => ["yes", "no"].includes(value),
  price: (value) => value !== "" && Number(value) >= 0 && Number(value) < Infinity,
  [LEFT_OUT]: (value) => /^\d{1,15}$/.test(value),
};

// here: what was named at start, in words; what was kept of another start is not taken up.
export function readState(here) {
  const kept = keptOf(here);
  const address = new URLSearchParams(location.hash.slice(1));
  const found = address.toString() || kept === null ? address : new URLSearchParams(kept.fragment);
  const own = kept !== null && kept.fragment === found.toString();
  const problems = own ? [] : problemsOf(found);
  if (location.search.length > 1) problems.push("Nothing is read of what stands behind '?' in this link: it belongs behind '#'.");
  const good = (key) => (found.has(key) && KEYS[key](found.get(key)) ? found.get(key) : null);
  let text = found.get("text") ?? (own ? kept.text : null);
  const left = good(LEFT_OUT);
  if (text === null && left !== null) {
    text = "";
    problems.push(`The text, of ${number(Number(left))} characters, is not in the link, which holds ${number(LONGEST)} at most: open its file, or paste it.`);
  }
  return {
    tokenizers: found.getAll("t").slice(0, MOST_TOKENIZERS), text, special: good("special") === "tokens", marks: good("marks") !== "no",
    price: good("price") ?? "", problems, typed: own && kept.typed === true, before: own ? kept.before ?? null : null,
    ids: own ? kept.ids ?? "" : "",
  };
}

// What in a link means nothing here, as sentences.
function problemsOf(found) {
  const problems = [];
  const tokenizers = found.getAll("t");
  if (tokenizers.length > MOST_TOKENIZERS) problems.push(`This link names ${tokenizers.length} tokenizers; the first ${MOST_TOKENIZERS} are shown.`);
  for (const key of new Set(found.keys())) {
    const values = found.getAll(key);
    if (!Object.hasOwn(KEYS, key)) problems.push(`This link has '${key}', which means nothing here.`);
    else if (key !== "t" && values.length > 1) problems.push(`This link has '${key}' ${values.length} times; the first counts.`);
    else if (!KEYS[key](values[0])) problems.push(`This link says ${key}=${values[0]}, which means nothing here.`);
  }
  return problems;
}

function keptOf(here) {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEPT));
    return found?.here === here ? found : null;
  } catch {
    return null; // a browser may keep nothing
  }
}

// Write the state into the address and the session. Returns whether the text is in the address: it may be too long.
// typed: whether somebody typed the text; before: one that was typed before it, or null; ids: those that were typed.
export function writeState({ tokenizers, text, special, marks, price, typed, before, ids }, here) {
  const found = new URLSearchParams();
  for (const name of tokenizers) found.append("t", name);
  if (special) found.set("special", "tokens");
  if (!marks) found.set("marks", "no");
  if (price) found.set("price", price);
  const whole = text.length <= LONGEST;
  if (whole) found.set("text", text);
  else found.set(LEFT_OUT, text.length);
  history.replaceState(null, "", `${location.pathname}#${found}`);
  const fragment = found.toString();
  const state = { here, fragment, text: whole ? null : text, typed };
  keep({ ...state, before, ids }) || keep({ ...state, before }) || keep(state) || keep({ here, fragment, text: null });
  return whole;
}

function keep(value) {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(value));
    return true;
  } catch {
    return false; // too long for the browser, or it keeps nothing
  }
}
