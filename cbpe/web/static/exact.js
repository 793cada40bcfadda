// The text of a field, exactly: a field gives CRLF and CR back as LF, so a text that has them is kept beside it until
// somebody edits it.

import { number } from "./page.js";

export class ExactText {
  // notice: the element that says where the text is not as the field shows it.
  constructor(field, notice) {
    this.field = field;
    this.notice = notice;
    this.kept = null; // the text, where the field does not give it back
    field.addEventListener("input", () => this.edited());
  }

  get value() {
    return this.kept ?? this.field.value;
  }

  set value(text) {
    this.field.value = text;
    this.kept = this.field.value === text ? null : text;
    this.say(this.kept === null ? null : `This text has ${lineEnds(text)}, which the field shows as LF. They are counted, and stay in a link that holds the text, until you edit it.`);
  }

  edited() {
    if (this.kept === null) return;
    this.say(`This text had ${lineEnds(this.kept)} until you edited it: they are LF now, so its bytes and tokens are others.`);
    this.kept = null;
  }

  say(message) {
    this.notice.textContent = message ?? "";
    this.notice.hidden = message === null;
  }
}

// "2 CRLF and 1 CR"
function lineEnds(text) {
  const both = text.match(/\r\n/g)?.length ?? 0;
  const alone = text.match(/\r(?!\n)/g)?.length ?? 0;
  const parts = [[both, "CRLF"], [alone, "CR"]].filter(([n]) => n > 0);
  return parts.map(([n, name]) => `${number(n)} ${name}`).join(" and ");
}
