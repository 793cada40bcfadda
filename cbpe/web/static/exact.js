// The text of a field, exactly: a field gives CRLF and CR back as LF, so a text that has them is kept beside it until
// somebody edits it.

import { number } from "./page.js";

export class ExactText {
  // notice: the element that says where the text is not as the field shows it.
  constructor(field, notice) {
    this.field = field;
    this.notice = notice;
    this.kept = null; // the text, where the field does not give it back
    this.before = null; // the same, once somebody has edited it
    field.addEventListener("input", () => this.edited());
  }

  get value() {
    return this.kept ?? this.field.value;
  }

  set value(text) {
    this.field.value = text;
    this.kept = this.field.value === text ? null : text;
    this.before = null;
    this.say(this.kept === null ? null : `This text has ${lineEnds(text)}, which the field shows as LF. They are counted, and stay in a link that holds the text, until you edit it.`);
  }

  edited() {
    if (this.kept !== null) {
      this.before = { ends: lineEnds(this.kept), text: this.kept.replace(/\r\n?/g, "\n"), places: placesOf(this.kept) };
      this.kept = null;
    }
    if (this.before === null) return;
    const { ends } = this.before;
    this.say(mayHaveOne(this.field.value, this.before) ? `This text had ${ends} until you edited it: they are LF now, so its bytes and tokens are others.` : null);
  }

  say(message) {
    this.notice.textContent = message ?? "";
    this.notice.hidden = message === null;
  }
}

// Where in a text with LF alone the lines end that end with CRLF or CR in this one.
function placesOf(text) {
  let taken = 0;
  return [...text.matchAll(/\r(\n?)/g)].map((found) => {
    const place = found.index - taken;
    taken += found[1].length;
    return place;
  });
}

// Whether an edited text may still have one of these line ends: in what it begins or ends with as the text before does.
function mayHaveOne(text, { text: before, places }) {
  const shorter = Math.min(text.length, before.length);
  let first = 0;
  while (first < shorter && text[first] === before[first]) first += 1;
  let last = 0;
  while (last < shorter - first && text[text.length - 1 - last] === before[before.length - 1 - last]) last += 1;
  if (first + last < 2) return false; // a line end alone may be of any text
  return places.some((place) => place < first || place >= before.length - last);
}

// "2 CRLF and 1 CR"
function lineEnds(text) {
  const both = text.match(/\r\n/g)?.length ?? 0;
  const alone = text.match(/\r(?!\n)/g)?.length ?? 0;
  const parts = [[both, "CRLF"], [alone, "CR"]].filter(([n]) => n > 0);
  return parts.map(([n, name]) => `${number(n)} ${name}`).join(" and ");
}
