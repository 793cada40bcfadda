// The tokenizers that can be chosen, in a select element.

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
