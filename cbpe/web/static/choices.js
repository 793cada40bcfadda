// The tokenizers that can be chosen, in a select element.

import { Problem, ask } from "./api.js";
import { make } from "./page.js";

const SOURCES = { given: "Named at start", encoding: "Encodings", store: "Model store" };

export function fillChoices(select, choices) {
  select.replaceChildren();
  for (const [source, label] of Object.entries(SOURCES)) {
    const named = choices.filter((choice) => choice.source === source);
    if (named.length === 0) continue;
    const group = make("optgroup", { label });
    group.append(...named.map((choice) => make("option", { value: choice.name }, choice.name)));
    select.append(group);
  }
}

// The tokenizers that a link names, as the choices have them. A version may be named by an alias, or be older than those
// that are listed: it then joins the choices, by the name that the store has for it.
export async function findChoices(names, choices) {
  const [known, unknown] = [[], []];
  for (const name of names) {
    const found = choices.some((choice) => choice.name === name) ? name : await versionOf(name);
    if (found === null) unknown.push(name);
    else {
      known.push(found);
      if (!choices.some((choice) => choice.name === found)) choices.push({ name: found, source: "store" });
    }
  }
  return { known, unknown };
}

async function versionOf(name) {
  try {
    return (await ask("version", { reference: name })).reference;
  } catch (error) {
    if (error instanceof Problem && [400, 404].includes(error.status)) return null;
    throw error;
  }
}
