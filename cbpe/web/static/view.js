// A view of tokens: only what is near to where somebody looks is drawn, so that a text of megabytes stays fluent; and of
// that, after a key, what has changed.

import { directionOf, placesIn } from "./directions.js";
import { make } from "./page.js";
import { shownText, spacedBytes, spokenText } from "./text.js";
import { gapBefore, sameAtEnds, textOfUnit } from "./units.js";

const MOST_IN_BLOCK = 150; // units, unless a line has more
const LEAST_IN_BLOCK = 50; // before a block ends at the end of a line
const MOST_IN_LINE = 600; // units of a line that is in one block: a longer one is cut
const COLOURS = 5;
const MOST_LEFT_OUT = 20000; // characters in no token that are drawn of one place
const MOST_SPOKEN = 20; // ids of tokens that share characters
const NEAR = 600; // pixels around the view in which blocks are drawn
const EDGE = 8; // pixels between a token that is walked to and the edge

// element: where tokens are drawn. onShow(units, unit, element): called for a unit under the pointer or the focus.
export class View {
  constructor(element, onShow) {
    this.element = element;
    this.onShow = onShow;
    this.units = null;
    this.differs = null; // those of the units when they were drawn
    this.marks = true;
    this.blocks = [];
    this.blockOf = new Map(); // element -> block
    this.at = 0;
    this.watcher = new IntersectionObserver((entries) => this.see(entries), { root: element, rootMargin: `${NEAR}px` });
    element.addEventListener("keydown", (event) => this.walk(event));
    element.addEventListener("pointerover", (event) => this.show(event.target));
    element.addEventListener("focusin", (event) => {
      if (event.target.matches(".token")) this.stopAt(event.target);
      this.show(event.target);
    });
    this.walking = false; // whether the focused token is kept in sight while blocks around it are drawn
    // Where it is scrolled to, and its size: whoever asks for them after a change has the whole page laid out at once.
    this.top = 0;
    this.size = { width: 0, height: 0 };
    element.addEventListener("scroll", () => { this.top = element.scrollTop; }, { passive: true });
    new ResizeObserver(([entry]) => { this.size = entry.contentRect; }).observe(element);
    for (const kind of ["wheel", "pointerdown", "touchmove"]) element.addEventListener(kind, () => { this.walking = false; }, { passive: true });
  }

  draw(units, marks) {
    const { top } = this;
    const focused = this.element.contains(document.activeElement);
    const kept = this.keep(units, marks);
    const old = this.blocks;
    this.units = units;
    this.differs = units.differs;
    this.marks = marks;
    const [head, tail] = [old.slice(0, kept.head), old.slice(old.length - kept.tail)];
    const gone = old.slice(kept.head, old.length - kept.tail);
    const from = head.length ? head[head.length - 1].to : 0;
    const moved = tail.length ? units.count - tail[tail.length - 1].to : 0;
    for (const block of moved ? tail : []) move(block, moved);
    const made = blocksOf(units, from, tail.length ? tail[0].from : units.count).map(([first, end]) => this.block(first, end));
    this.blocks = [...head, ...made, ...tail];
    // What is seen at first is drawn at once, not after the observer's first look.
    const walked = this.at !== 0 && !gone.some((block) => this.holdsStop(block));
    if (walked && tail.length && this.at >= tail[0].from - moved) this.at += moved;
    const filled = head.length + tail.length ? gone.filter((block) => block.filled).length : 1;
    for (const block of made.slice(0, filled)) this.fill(block);
    this.replace(gone, made, tail);
    if (top > 0 && head.length + tail.length === 0) this.element.scrollTop = top;
    if (walked) return; // the token that the keys have come to stays, with the focus
    this.stopAtFirst();
    if (focused) this.element.querySelector(".token")?.focus({ preventScroll: true });
  }

  // How many blocks, at the beginning and at the end, show what they would show when they were drawn again.
  keep(units, marks) {
    const old = this.blocks;
    let [head, tail] = [0, 0];
    if (this.units === null || this.units.count === 0 || this.marks !== marks) return { head, tail };
    const [first, last] = sameAtEnds(this.units, this.differs, units);
    // The last block shows what stands after it, too.
    while (head < old.length - 1 && old[head].to <= Math.min(first, units.count - 1)) head += 1;
    const joined = (unit, moved) => isBorder(this.units, unit) && !isBorder(units, unit + moved); // lines that became one
    while (head && joined(old[head - 1].to, 0)) head -= 1;
    const moved = units.count - this.units.count;
    const least = Math.max(this.units.count - last, (head ? old[head - 1].to : 0) - moved);
    while (tail < old.length - head && old[old.length - 1 - tail].from >= least) tail += 1;
    const gaps = (block) => gapBefore(this.units, block.from) > 0 || gapBefore(units, block.from + moved) > 0;
    const goes = (block) => goesOn(this.units, block.from) !== goesOn(units, block.from + moved);
    const changed = (block) => gaps(block) || goes(block) || joined(block.from, moved);
    if (tail && changed(old[old.length - tail])) tail -= 1;
    const between = () => units.count - (head ? old[head - 1].to : 0) - (tail ? this.units.count - old[old.length - tail].from : 0);
    if (tail && between() > 0 && between() < LEAST_IN_BLOCK) tail -= 1; // or ever smaller blocks would come of many keys
    return { head, tail };
  }

  block(from, to) {
    const { units } = this;
    const wide = Math.max(10, Math.floor((this.size.width || this.element.clientWidth) / 11)); // the size comes with the first frame
    let characters = units.placed && to > from ? units.end[to - 1] - units.start[from] : 4 * (to - from);
    for (let unit = from + 1; unit < to; unit += 1) characters -= Math.max(0, gapBefore(units, unit) - MOST_LEFT_OUT);
    const element = make("div", { role: "presentation" });
    element.style.minHeight = `${Math.ceil(characters / wide) * 1.95}em`;
    return { from, to, filled: false, element };
  }

  // Put blocks that were made in the place of those that are gone, before those that follow.
  replace(gone, made, tail) {
    for (const block of gone) {
      this.watcher.unobserve(block.element);
      this.blockOf.delete(block.element);
      block.element.remove();
    }
    const after = tail.length ? tail[0].element : null;
    for (const block of made) {
      this.element.insertBefore(block.element, after);
      this.blockOf.set(block.element, block);
      this.watcher.observe(block.element);
    }
  }

  // Have the Tab key come to the first token.
  stopAtFirst() {
    this.at = 0;
    if (this.blocks.length === 0) return;
    this.fill(this.blocks[0]);
    if (this.units.count === 0) return;
    this.stopAt(this.element.querySelector(".token"));
  }

  // Have the Tab key come to a token, from which the arrow keys walk.
  stopAt(token) {
    for (const before of this.element.querySelectorAll('.token[tabindex="0"]')) before.setAttribute("tabindex", "-1");
    token.setAttribute("tabindex", "0");
    this.at = Number(token.dataset.unit);
  }

  clear() {
    this.watcher.disconnect();
    this.blockOf.clear();
    this.units = null;
    this.differs = null;
    this.blocks = [];
    this.at = 0;
    this.element.replaceChildren();
  }

  see(entries) {
    for (const entry of entries) {
      const block = this.blockOf.get(entry.target);
      if (!block) continue;
      if (entry.isIntersecting) this.fill(block);
      else if (block.filled && !this.holdsStop(block) && !block.element.contains(document.activeElement)) this.empty(block);
    }
    if (this.walking) this.reveal(document.activeElement);
  }

  // Whether the Tab key comes to a token of a block.
  holdsStop(block) {
    return block.from <= this.at && this.at < block.to;
  }

  fill(block) {
    if (block.filled) return;
    block.filled = true;
    block.element.style.minHeight = "";
    block.element.append(...this.lines(block.from, block.to));
  }

  empty(block) {
    block.element.style.minHeight = `${block.element.offsetHeight}px`;
    block.element.replaceChildren();
    block.filled = false;
  }

  lines(from, to) {
    const lines = [];
    let line = null;
    let text = "";
    let texts = []; // that are in the line
    const add = (element, content) => {
      line.append(element);
      texts.push(content);
    };
    const finish = () => {
      if (line !== null) {
        line.dir = directionOf(text) ?? "ltr";
        turnRuns(line, texts);
      }
      line = null;
      texts = [];
      text = "";
    };
    const begin = () => {
      if (line === null) lines.push((line = make("div", { class: "line", role: "presentation" })));
    };
    for (let unit = from; unit < to; unit += 1) {
      begin();
      const gap = this.leftOut(unit);
      if (gap) add(gap, gap.textContent);
      const said = textOfUnit(this.units, unit);
      const parts = this.standsAsBytes(unit, said) ? [said] : said.split(/(?<=\n)/); // each in a line of its own
      for (const [i, part] of parts.entries()) {
        begin();
        const own = this.isSpecial(unit) ? "" : part; // a special token is none of the text's letters
        add(i === 0 ? this.token(unit, said, part, (unit - from) % COLOURS) : this.restOfToken(unit, part, (unit - from) % COLOURS), own);
        text += own;
        const isEnd = part.endsWith("\n") && !(unit === from && i === 0 && goesOn(this.units, unit)); // the block has begun a line
        if (isEnd) finish();
      }
    }
    if (to === this.units.count) {
      const rest = this.between(to === 0 ? 0 : this.units.end[to - 1], this.units.text.length);
      if (rest && lines.length === 0) begin(); // no token begins a line
      if (rest) (line ?? lines[lines.length - 1]).append(rest);
    }
    finish();
    return lines;
  }

  // The text before a unit that is in no token.
  leftOut(unit) {
    const start = this.units.start[unit];
    return this.between(start - gapBefore(this.units, unit), start);
  }

  between(from, to) {
    if (!this.units.placed || from >= to) return null;
    const isLong = to - from > MOST_LEFT_OUT;
    const text = isLong ? this.units.text.slice(from, from + MOST_LEFT_OUT).replace(/[\ud800-\udbff]$/, "") : this.units.text.slice(from, to);
    const title = isLong ? "in no token; only its beginning is shown" : "in no token";
    return make("span", { class: "left-out", title }, shownText(text, this.marks), isLong ? "…" : "");
  }

  isSpecial(unit) {
    const { answer, first } = this.units;
    return answer.tokens[answer.ids[first[unit]]].special;
  }

  standsAsBytes(unit, said) {
    const { answer, first, placed } = this.units;
    return !placed && said.includes("\ufffd") && answer.tokens[answer.ids[first[unit]]].text === null;
  }

  namesOf(unit, part, colour) {
    const { first, differs } = this.units;
    const names = ["token", this.isSpecial(unit) ? "special" : `c${colour}`];
    if (first[unit + 1] - first[unit] > 1) names.push("shared");
    if (differs !== null && differs[unit]) names.push("differs");
    if (/\t[^]/.test(part)) names.push("lines");
    return names.join(" ");
  }

  // What is in a line of a token that has a line break before it.
  restOfToken(unit, part, colour) {
    return make("span", { class: this.namesOf(unit, part, colour), "aria-hidden": "true", "data-unit": unit }, shownText(part, this.marks, true));
  }

  // A token; part: what of it is in its first line.
  token(unit, said, part, colour) {
    const { answer, first, differs } = this.units;
    const id = answer.ids[first[unit]];
    const n = first[unit + 1] - first[unit];
    const ids = answer.ids.slice(first[unit], Math.min(first[unit + 1], first[unit] + MOST_SPOKEN));
    const what = n > 1 ? `${n} tokens that share characters: ${ids.join(", ")}${n > ids.length ? " and more" : ""}` : `token ${ids[0]}`;
    const found = make("span", {
      class: this.namesOf(unit, part, colour), role: "option", tabindex: unit === this.at ? "0" : "-1", "data-unit": unit,
      "aria-label": `${spokenText(said)}, ${what}${differs !== null && differs[unit] ? ", differs" : ""}`,
    });
    found.append(this.standsAsBytes(unit, said) ? make("span", { class: "unseen-character" }, spacedBytes(answer.tokens[id].bytes)) : shownText(part, this.marks, true));
    return found;
  }

  show(target) {
    const token = target instanceof Element ? target.closest(".token") : null;
    if (!token || !this.element.contains(token)) return;
    const { unit } = token.dataset;
    this.onShow(this.units, Number(unit), this.element.querySelector(`[data-unit="${unit}"]`)); // of its parts the first
  }

  walk(event) {
    if (this.units === null || this.units.count === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 };
    const last = this.units.count - 1;
    let to;
    if (event.key in steps) to = this.at + steps[event.key];
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = last;
    else return;
    event.preventDefault();
    this.focus(Math.min(last, Math.max(0, to)));
  }

  focus(unit) {
    const block = this.blocks.find((each) => each.from <= unit && unit < each.to);
    this.fill(block);
    const token = block.element.querySelector(`[data-unit="${unit}"]`);
    token.focus({ preventScroll: true });
    this.walking = true;
    this.fillAround(block);
    this.reveal(token);
  }

  // Draw what is near to a block, so that its neighbours do not push it away when they are drawn later.
  fillAround(block) {
    const at = this.blocks.indexOf(block);
    const near = this.element.clientHeight + NEAR;
    for (const step of [-1, 1]) {
      let high = 0;
      for (let i = at + step; i >= 0 && i < this.blocks.length && high < near; i += step) {
        this.fill(this.blocks[i]);
        high += this.blocks[i].element.offsetHeight;
      }
    }
  }

  // Scroll the view and the page so that a token shows above what covers the end of the window.
  reveal(token) {
    if (!this.element.contains(token) || !token.classList.contains("token")) return;
    const box = () => token.getBoundingClientRect();
    const view = this.element.getBoundingClientRect();
    const own = box();
    if (own.top < view.top + EDGE) this.element.scrollTop -= view.top + EDGE - own.top;
    else if (own.bottom > view.bottom - EDGE) this.element.scrollTop += own.bottom - view.bottom + EDGE;
    const cover = document.getElementById("details");
    const end = window.innerHeight - (cover === null ? 0 : cover.offsetHeight);
    const now = box();
    if (now.top < EDGE) window.scrollBy(0, now.top - EDGE);
    else if (now.bottom > end - EDGE) window.scrollBy(0, Math.min(now.bottom - end + EDGE, now.top - EDGE));
  }
}

// Within a line, tokens that run the other way are runs of their own, so that a word that is several tokens reads as it
// is written; and within these, numbers.
function turnRuns(line, texts) {
  const elements = [...line.children];
  const base = line.dir === "rtl" ? 1 : 0;
  let run = line;
  let now = base;
  for (const [i, [blanks, level]] of placesIn(texts, line.dir).entries()) {
    for (; now > blanks; now -= 1) run = run.parentElement;
    for (; now < level; now += 1) {
      const turned = make("span", { class: "run", dir: now % 2 ? "ltr" : "rtl", role: "presentation" });
      if (run === line) elements[i].before(turned);
      else run.append(turned);
      run = turned;
    }
    if (run !== line) run.append(elements[i]);
  }
  for (const own of line.querySelectorAll(".token > bdi")) {
    if (directionOf(own.textContent) === null) own.dir = own.parentElement.parentElement.dir; // brackets turn with the line
  }
}

// Number the units of a block anew, whose units are the same after others came or went before them.
function move(block, by) {
  block.from += by;
  block.to += by;
  for (const token of block.element.querySelectorAll(".token")) token.dataset.unit = Number(token.dataset.unit) + by;
}

const endsWithBreak = (units, unit) => units.text.charCodeAt(units.end[unit] - 1) === 10;

// Whether a unit begins with the line break of the line before it, and goes on in the next one.
function goesOn(units, unit) {
  if (!units.placed || unit === 0 || unit >= units.count || units.end[unit] === units.start[unit]) return false;
  return units.text.charCodeAt(units.start[unit]) === 10 && !endsWithBreak(units, unit) && !endsWithBreak(units, unit - 1) && gapBefore(units, unit) === 0;
}

// Whether one line of the text ends before a unit, which begins another.
const isBorder = (units, unit) => units.placed && unit > 0 && (endsWithBreak(units, unit - 1) || goesOn(units, unit));

// Runs of units of a range: a block ends at the end of a line if it can, so that lines are drawn whole. A text none of
// which is in a token is a block of none.
function blocksOf(units, first, end) {
  if (units.count === 0) return units.placed && units.text ? [[0, 0]] : [];
  const found = [];
  for (let from = first; from < end; ) {
    const to = endOfBlock(units, from, end);
    found.push([from, to]);
    from = to;
  }
  return found;
}

function endOfBlock(units, from, end) {
  const most = from + MOST_IN_BLOCK;
  if (most >= end) return end;
  for (let unit = most; unit > from + LEAST_IN_BLOCK; unit -= 1) if (isBorder(units, unit)) return unit;
  const last = Math.min(end, from + MOST_IN_LINE);
  for (let unit = most + 1; unit < last; unit += 1) if (isBorder(units, unit)) return unit;
  return last === end ? end : most;
}
