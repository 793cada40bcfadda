// In which direction a line of tokens runs. Each token is an element of its own to a browser, which lays elements out in
// the direction of the line, whatever is in them: so runs of the other direction are marked.

const LETTER = /\p{L}/gu;
const ARABIC = /[\u0640\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u; // letters of class AL, and what lengthens them
const FROM_RIGHT = /[\u0640\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}]/u;
// Of Unicode's bidirectional algorithm (UAX #9): kinds of numbers, separators within them, and what stands beside them.
const NUMBERS = { EN: /[0-9\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u2488-\u249b\u06f0-\u06f9\u{1d7ce}-\u{1d7ff}\uff10-\uff19]/u, AN: /[\u0660-\u0669\u066b\u066c]/u };
const STRONG = /[\p{Nd}\p{Nl}\p{Mc}]/u; // what has a direction and is no letter, as digits of India
const MARKS = /^[\p{Mn}\p{Me}]+$/u;
const SEPARATORS = [[/^[,./:\u00a0\u060c\u202f\u2044\ufe50\ufe52\ufe55\uff0c\uff0e\uff0f\uff1a]$/, ["EN", "AN"]], [/^[+\-\u207a\u207b\u208a\u208b\u2212\ufb29\ufe62\ufe63\uff0b\uff0d]$/, ["EN"]]];
const BESIDE = /^[#%\u00b0\u00b1\u0609\u060a\u066a\u2030-\u2034\u212e\u2213\ufe5f\ufe6a\uff03\uff05\p{Sc}]+$/u;
const BRACKETS = { "(": ")", "[": "]", "{": "}" };
const MOST_OPENED = 63; // brackets that are looked at, one within another

// The direction that most letters of a text have; null without letters.
export function directionOf(text) {
  let [n, fromRight] = [0, 0];
  for (const [letter] of text.matchAll(LETTER)) {
    n += 1;
    if (FROM_RIGHT.test(letter)) fromRight += 1;
  }
  return n === 0 ? null : 2 * fromRight > n ? "rtl" : "ltr";
}

// The levels of each of the texts of a line: of the blanks that it begins with, where they are less deep than it is, and
// of itself. What these part is no one run.
export function placesIn(texts, line) {
  const parts = [];
  const own = []; // of each text, where it is among the parts, behind its blanks
  for (const text of texts) {
    const rest = text.trimStart();
    const blanks = rest === "" ? "" : text.slice(0, text.length - rest.length);
    parts.push(...(blanks === "" ? [text] : [blanks, rest]));
    own.push(parts.length - 1);
  }
  const levels = levelsIn(parts, line);
  return own.map((i, at) => [Math.min(levels[i], levels[at === 0 ? 0 : own[at - 1] + 1]), levels[i]]);
}

// How deep each of the texts of a line is within others, by the rules of that algorithm (W1 to I2) with texts in the
// place of characters: even levels run from left to right, odd ones from right to left, and that of the line is 0 or 1.
function levelsIn(texts, line) {
  const outside = line === "rtl" ? "R" : "L";
  const kinds = withNumbers(texts, outside).map((kind) => (kind === "AL" ? "R" : kind));
  setBrackets(kinds, texts, outside);
  const [before, after] = [sides(kinds, outside), sides([...kinds].reverse(), outside).reverse()];
  return kinds.map((kind, i) => {
    const own = kind ?? (before[i] === after[i] ? before[i] : outside);
    return own === "R" ? 1 : own === "L" && line === "ltr" ? 0 : 2;
  });
}

// What each text is: "L", "R" or "AL" by most of its letters, a number ("EN", "AN"), or null. Numbers that follow letters
// from the left are as these are.
function withNumbers(texts, outside) {
  const kinds = texts.map(kindOf);
  const isLetters = (kind) => kind === "L" || kind === "R" || kind === "AL";
  let letters = "";
  for (const [i, kind] of kinds.entries()) {
    if (MARKS.test(texts[i])) kinds[i] = i === 0 ? outside : kinds[i - 1]; // a mark is as what it stands on
    else if (isLetters(kind)) letters = kind;
    else if (kind === "EN" && letters === "AL") kinds[i] = "AN";
  }
  for (let i = 1; i < texts.length - 1; i += 1) {
    const numbers = SEPARATORS.find(([separator]) => separator.test(texts[i]))?.[1] ?? [];
    if (kinds[i - 1] === kinds[i + 1] && numbers.includes(kinds[i - 1])) kinds[i] = kinds[i - 1];
  }
  const places = [...kinds.keys()];
  for (const [order, step] of [[places, -1], [[...places].reverse(), 1]]) {
    for (const i of order) if (BESIDE.test(texts[i]) && kinds[i + step] === "EN") kinds[i] = "EN";
  }
  letters = outside;
  for (const [i, kind] of kinds.entries()) {
    if (isLetters(kind)) letters = kind;
    else if (kind === "EN" && letters === "L") kinds[i] = "L";
  }
  return kinds;
}

function kindOf(text) {
  const direction = directionOf(text);
  if (direction === "ltr") return "L";
  if (direction === "rtl") return ARABIC.test([...text].find((each) => FROM_RIGHT.test(each))) ? "AL" : "R";
  for (const each of text) {
    for (const [kind, digit] of Object.entries(NUMBERS)) if (digit.test(each)) return kind;
    if (STRONG.test(each)) return ARABIC.test(each) ? "AL" : FROM_RIGHT.test(each) ? "R" : "L";
  }
  return null;
}

// Both brackets of a pair that has letters or numbers within run as the line does, where one of these does, or else as
// what is before the pair (N0).
function setBrackets(kinds, texts, outside) {
  const opened = [];
  const pairs = [];
  for (const [i, text] of texts.entries()) {
    const bracket = kinds[i] === null ? text.trim() : "";
    if (bracket in BRACKETS && opened.length < MOST_OPENED) opened.push([BRACKETS[bracket], i]);
    else {
      const at = opened.findLastIndex(([closing]) => closing === bracket);
      if (at >= 0) pairs.push([opened.splice(at)[0][1], i]);
    }
  }
  for (const [first, last] of pairs.sort((one, other) => one[0] - other[0])) {
    const within = kinds.slice(first + 1, last).filter(Boolean).map(sideOf);
    if (within.length === 0) continue;
    let before = first - 1;
    while (before >= 0 && kinds[before] === null) before -= 1;
    kinds[first] = kinds[last] = within.includes(outside) ? outside : before < 0 ? outside : sideOf(kinds[before]);
  }
}

const sideOf = (kind) => (kind === "L" ? "L" : "R");

// On which side, "L" or "R", each of some texts follows.
function sides(kinds, outside) {
  let last = outside;
  return kinds.map((kind) => {
    const own = last;
    if (kind !== null) last = sideOf(kind);
    return own;
  });
}
