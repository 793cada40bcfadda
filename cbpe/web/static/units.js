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
