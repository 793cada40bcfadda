// What is drawn of an answer: units, each a token, or a group of tokens that share characters.

import { placesOf, textOf } from "./text.js";

// answer: of /api/v1/encode. text: what was encoded. Returns, for each unit, its first token, its place in the text
// (in units of JavaScript), and of all what the answer says.
export function unitsOf(answer, text) {
  const n = answer.ids.length;
  const places = answer.starts === null ? null : placesOf(text);
  const at = (character) => (places === null ? character : places[character]);
  const first = new Uint32Array(n + 1);
  const start = new Uint32Array(n);
  const end = new Uint32Array(n);
  const groups = answer.groups ?? [];
  let unit = 0;
  for (let token = 0, group = 0; token < n; unit += 1) {
    let after = token + 1;
    if (group < groups.length && groups[group][0] === token) {
      after = groups[group][1];
      group += 1;
    }
    first[unit] = token;
    if (answer.starts !== null) {
      start[unit] = at(answer.starts[token]);
      end[unit] = start[unit];
      for (let i = token; i < after; i += 1) end[unit] = Math.max(end[unit], at(answer.ends[i]));
    }
    token = after;
  }
  first[unit] = n;
  return { answer, text, count: unit, first, start, end, placed: answer.starts !== null, differs: null };
}

// The characters of a unit: those of the text, or those of its tokens where they have no places in it.
export function textOfUnit(units, unit) {
  if (units.placed && units.end[unit] > units.start[unit]) return units.text.slice(units.start[unit], units.end[unit]);
  let bytes = "";
  for (let token = units.first[unit]; token < units.first[unit + 1]; token += 1) {
    bytes += units.answer.tokens[units.answer.ids[token]].bytes;
  }
  return textOf(bytes);
}

// How many characters between a unit and the one before it are in no token.
export function gapBefore(units, unit) {
  const { start, end } = units;
  if (unit === units.count || end[unit] === start[unit]) return 0;
  let before = unit - 1;
  while (before >= 0 && end[before] === start[before]) before -= 1;
  return Math.max(0, start[unit] - (before < 0 ? 0 : end[before]));
}

// How many units at the beginning, and how many at the end, are the same in two texts, and look the same: the whole of
// equal ones, both times. differs: which of the old ones were marked when they were drawn.
export function sameAtEnds(old, differs, now) {
  if (old.placed !== now.placed) return [0, 0];
  const most = Math.min(old.count, now.count);
  const [ahead, behind] = sameCharacters(old.text, now.text);
  const longer = now.text.length - old.text.length;
  const sameUnit = (i, j, shift) => {
    const n = now.first[j + 1] - now.first[j];
    if (old.first[i + 1] - old.first[i] !== n || (differs?.[i] ?? 0) !== (now.differs?.[j] ?? 0)) return false;
    if (old.start[i] + shift !== now.start[j] || old.end[i] + shift !== now.end[j]) return false;
    for (let k = 0; k < n; k += 1) {
      const id = now.answer.ids[now.first[j] + k];
      if (old.answer.ids[old.first[i] + k] !== id) return false;
      const [a, b] = [old.answer.tokens[id], now.answer.tokens[id]];
      if (a.bytes !== b.bytes || a.special !== b.special) return false; // of another tokenizer
    }
    return true;
  };
  let before = 0;
  while (before < most && sameUnit(before, before, 0) && now.end[before] <= ahead) before += 1;
  let after = 0;
  while (after < most) {
    const [i, j] = [old.count - 1 - after, now.count - 1 - after];
    if (!sameUnit(i, j, now.placed ? longer : 0) || (now.placed && now.start[j] < now.text.length - behind)) break;
    after += 1;
  }
  return [before, after];
}

// How many characters two texts share at the beginning, and how many at the end.
function sameCharacters(a, b) {
  const most = Math.min(a.length, b.length);
  let ahead = 0;
  while (ahead < most && a.charCodeAt(ahead) === b.charCodeAt(ahead)) ahead += 1;
  let behind = 0;
  while (behind < most && a.charCodeAt(a.length - 1 - behind) === b.charCodeAt(b.length - 1 - behind)) behind += 1;
  return [ahead, behind];
}

// Mark, in all of them that have places, the units that do not begin and end at the same places in each.
export function markDifferences(all) {
  for (const units of all) units.differs = null;
  const placed = all.filter((units) => units.placed);
  if (placed.length < 2 || placed.some((units) => units.text !== placed[0].text)) return;
  for (const units of placed) units.differs = new Uint8Array(units.count);
  for (const units of placed) {
    for (const other of placed) {
      if (other === units) continue;
      let j = 0;
      for (let i = 0; i < units.count; i += 1) {
        while (j < other.count && (other.start[j] < units.start[i] || (other.start[j] === units.start[i] && other.end[j] < units.end[i]))) j += 1;
        if (j === other.count || other.start[j] !== units.start[i] || other.end[j] !== units.end[i]) units.differs[i] = 1;
      }
    }
  }
}
