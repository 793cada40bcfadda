// Token ids to text, by the first tokenizer of the playground.

import { Problem, send } from "./api.js";
import { byId, count, make } from "./page.js";
import { quoted, shownText, spacedBytes, spokenText } from "./text.js";

const PAUSE = 100; // milliseconds without a key, before ids are decoded
const MOST_TOKENS = 5000; // that are drawn
const MOST_TOGETHER = 20000; // characters of their text

export class Decoding {
  // tokenizer: gives the name of the first, or undefined before there is one. marks: whether spaces and line breaks have
  // marks. use: is given the text that is to stand above.
  constructor({ tokenizer, marks, use }) {
    this.tokenizer = tokenizer;
    this.marks = marks;
    this.field = byId("ids");
    this.pause = null;
    this.by = null; // the tokenizer that was asked last
    this.asked = 0; // times; an answer to an older one is dropped
    this.found = null; // what is shown: the answer, and the ids
    this.field.addEventListener("input", () => {
      clearTimeout(this.pause);
      this.pause = setTimeout(() => this.decode(), PAUSE);
    });
    byId("use").addEventListener("click", () => use(this.found.answer.text));
  }

  // Ids of before a reload. Those that somebody typed before the page was ready stay.
  takeUp(ids) {
    if (!ids || this.field.value) return;
    this.field.value = ids;
    byId("decoding").open = true;
    this.by = null;
  }

  // Of another tokenizer than before, the same ids are another text.
  follow() {
    if (this.tokenizer() !== this.by) this.decode();
  }

  async decode() {
    const tokenizer = this.tokenizer();
    if (tokenizer === undefined) return; // it is asked once it is known
    this.by = tokenizer;
    const turn = ++this.asked;
    const words = this.field.value.split(/[\s,;[\]()]+/).filter(Boolean);
    this.found = null;
    this.draw(problemOf(words));
    if (words.length === 0 || problemOf(words) !== "") return;
    let said = "";
    try {
      const answer = await send("decode", { tokenizer, ids: words.map(Number) });
      if (turn === this.asked) this.found = { answer, ids: words.map(Number) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      said = error.message;
    }
    if (turn === this.asked) this.draw(said);
  }

  // The marks have changed.
  redraw() {
    if (this.found !== null) this.draw();
  }

  // said: what is said where nothing was found.
  draw(said = "") {
    const { found } = this;
    byId("decoded-said").textContent = found === null ? said : saidOf(found.answer);
    byId("decoded").replaceChildren(...(found === null ? [] : [lineOf(found, this.marks())]));
    byId("together").replaceChildren(...(found === null ? [] : together(found.answer, this.marks())));
    byId("use").hidden = found === null;
  }
}

// What is no id, as a sentence; "" where all may be.
function problemOf(words) {
  const wrong = words.find((word) => !/^[0-9]+$/.test(word));
  if (wrong !== undefined) return `${quoted(wrong)} is no token id: ids are whole numbers from 0 on.`;
  const huge = words.find((word) => !Number.isSafeInteger(Number(word)));
  return huge === undefined ? "" : `No token has the id ${spokenText(huge)}.`;
}

const saidOf = (answer) => `${count(answer.n_tokens, "token")}${answer.is_utf8 ? "" : "; not UTF-8: a token that is no text shows as its bytes, and becomes U+FFFD in the text above"}`;

function lineOf({ answer, ids }, marks) {
  const line = make("div", { class: "line" });
  for (const [i, id] of ids.slice(0, MOST_TOKENS).entries()) {
    const value = answer.tokens[id];
    const name = `${value.special ? "token special" : `token c${i % 5}`}${value.text?.includes("\n") ? " lines" : ""}`;
    const shown = value.text === null ? make("span", { class: "unseen-character" }, spacedBytes(value.bytes)) : shownText(value.text, marks);
    line.append(make("span", { class: name, title: `${id}: ${spacedBytes(value.bytes)}` }, shown));
  }
  return line;
}

// The text itself, where a token shows as its bytes: that token and its neighbours make characters.
function together(answer, marks) {
  const inParts = Object.values(answer.tokens).some((value) => value.text === null);
  return inParts ? ["Together: ", shownText(beginningOf(answer.text), marks)] : [];
}

// Of a long text the first characters.
const beginningOf = (text) => (text.length <= MOST_TOGETHER ? text : `${text.slice(0, MOST_TOGETHER)}…`);
