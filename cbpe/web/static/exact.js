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
      this.before = { ends: lineEnds(this.kept), lines: linesOf(this.kept) };
      this.kept = null;
    }
    if (this.before === null) return;
    const { ends, lines } = this.before;
    const has = hasOneOf(this.field.value, lines);
    this.say(has ? `This text had ${ends} until you edited it: they are LF now, so its bytes and tokens are others.` : null);
  }

  say(message) {
    this.notice.textContent = message ?? "";
    this.notice.hidden = message === null;
  }
}

// The lines that end with CRLF or CR, but for empty ones.
function linesOf(text) {
  return new Set([...text.matchAll(/([^\r\n]*)\r\n?/g)].map(([, line]) => line).filter((line) => line));
}

// Whether one of these lines is left in a text; where there are none, whether a line ends in it.
function hasOneOf(text, lines) {
  const ended = text.split("\n").slice(0, -1);
  return lines.size ? ended.some((line) => lines.has(line)) : ended.length > 0;
}

// "2 CRLF and 1 CR"
function lineEnds(text) {
  const both = text.match(/\r\n/g)?.length ?? 0;
  const alone = text.match(/\r(?!\n)/g)?.length ?? 0;
  const parts = [[both, "CRLF"], [alone, "CR"]].filter(([n]) => n > 0);
  return parts.map(([n, name]) => `${number(n)} ${name}`).join(" and ");
}
