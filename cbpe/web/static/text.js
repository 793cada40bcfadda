// Texts as they are shown: hostile ones too, in which characters may be unseen, or turn the text around them.

import { make } from "./page.js";

const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Cs}\p{DI}]|[^\P{Zs} ]/u;
const TO_MARK = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Cs}\p{DI} ]|[^\P{Zs} ]/u;
const MARKS = { "\n": "↵\n", "\r": "␍", "\t": "⇥\t" };
const VARIANT = /\p{VS}/u; // a selector of how the character before it looks
const JOINER = /[\u200c\u200d\p{VS}]/u;
const MOST_SPOKEN = 80; // characters
const WORD_END = /<\/w>$/; // as some vocabularies mark the tokens that end a word

// The places of characters in a string of JavaScript, whose units are halves of some: character i begins at [i].
// null where both are the same.
export function placesOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return null;
  const places = new Uint32Array(text.length + 1);
  let n = 0;
  for (let i = 0; i < text.length; n += 1) {
    places[n] = i;
    i += text.codePointAt(i) > 0xffff ? 2 : 1;
  }
  places[n] = text.length;
  return places.subarray(0, n + 1);
}

const codePoint = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

// A text as nodes, in an element of its own direction. marks: whether spaces and line breaks have marks. ends: whether a
// line of the page ends after it, if the text ends one.
export function shownText(text, marks, ends = false) {
  const found = make("bdi");
  if (WORD_END.test(text)) found.dir = "ltr"; // or the mark would stand before a word that runs from right to left
  let plain = /^(?!\p{DI})\p{M}/u.test(text) ? "\u25cc" : ""; // a mark that belongs to what is before it stands on a circle
  if (plain) found.className = "circled";
  if (!TO_MARK.test(text)) {
    found.textContent = plain + text;
    return found;
  }
  const mark = (name, shown) => {
    if (plain) found.append(plain);
    plain = "";
    found.append(make("span", { class: name }, shown));
  };
  let left = text.length;
  for (const character of text) {
    left -= character.length;
    if (character === "\n" && ends && left === 0) {
      if (marks) mark("mark", "↵");
    } else if (character === " ") {
      if (marks) mark("mark", "·");
      else plain += " ";
    } else if (character in MARKS) {
      if (marks) mark("mark", MARKS[character]);
      else plain += character === "\r" ? "" : character;
    } else if (UNSEEN.test(character) && !(JOINER.test(character) && text.length > 1)) {
      mark("unseen-character", codePoint(character));
    } else {
      plain += character;
    }
  }
  if (plain) found.append(plain);
  return found;
}

// The beginning of a text in one line of words, for those who hear it. space: what stands for each space.
export function spokenText(text, space = "␣") {
  let said = "";
  for (const character of text.slice(0, MOST_SPOKEN)) {
    const unseen = UNSEEN.test(character) && !(VARIANT.test(character) && text.length > 1);
    said += { " ": space, "\n": "↵", "\t": "⇥" }[character] ?? (unseen ? codePoint(character) : character);
  }
  return text.length > MOST_SPOKEN ? `${said}…` : said;
}

// What somebody typed, as messages say it.
export const quoted = (text) => `'${spokenText(text, " ")}'`;

// What is said of a file of many texts, which is one text here; null for another file.
export const toldOfRows = (name) => (/\.jsonl$/i.test(name) ? `${name} is read as one text, with the JSON around its texts: name it at start with their field, as in cbpe ui --field text FILE, to read these.` : null);

// A name that may be long, as its beginning and its end: "aaaa…aaa@1".
export function shortened(name, most) {
  const characters = [...name];
  if (characters.length <= most) return name;
  const end = Math.floor((most - 1) / 2);
  return `${characters.slice(0, most - 1 - end).join("")}…${characters.slice(-end).join("")}`;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // or it drops U+FEFF

export function bytesOf(hexadecimal) {
  const bytes = new Uint8Array(hexadecimal.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = parseInt(hexadecimal.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

// Bytes as text, U+FFFD in place of what is no UTF-8.
export const textOf = (hexadecimal) => decoder.decode(bytesOf(hexadecimal));

// "68656c" -> "68 65 6c", the first of many.
export function spacedBytes(hexadecimal, most = 64) {
  const pairs = hexadecimal.slice(0, 2 * most).match(/../g) ?? [];
  return pairs.join(" ") + (hexadecimal.length > 2 * most ? " …" : "");
}
