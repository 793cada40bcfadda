// The sums of a text by one tokenizer, so named that figures which stand side by side divide.

import { make, number } from "./page.js";

// answer: of /api/v1/encode. price: of a million tokens; NaN where none is given.
export function drawSums(element, answer, price = NaN) {
  const { n_tokens: tokens, n_template_tokens: ofTemplate, n_bytes: bytes, covered_bytes: covered } = answer;
  const all = ofTemplate ? "with those of the template" : null;
  const rows = [["tokens", number(tokens), all]];
  if (ofTemplate) rows.push(["of them the template's", number(ofTemplate), "tokens that the tokenizer puts around every text"]);
  rows.push(["characters", number(answer.n_characters)], ["bytes", number(bytes)]);
  if (covered !== bytes) rows.push(["bytes in tokens", number(covered), "without what the split pattern leaves out"]);
  if (answer.bytes_per_token !== null) {
    const said = ofTemplate ? "bytes per token of the text" : "bytes per token";
    rows.push([said, number(answer.bytes_per_token, 2), `${number(covered)} bytes over ${number(tokens - ofTemplate)} tokens${ofTemplate ? ", those of the template left out" : ""}`]);
  }
  if (price >= 0) rows.push([ofTemplate ? "price of all tokens" : "price", shownPrice((tokens * price) / 1e6), all]);
  element.replaceChildren(...rows.map(([name, value, title = null]) => make("div", { title }, make("dt", {}, name), make("dd", {}, value))));
}

// As money with two digits after the point, and up to six; or three that count where that would show too little.
const shownPrice = (value) => value.toLocaleString("en", value > 0 && value < 0.001 ? { maximumSignificantDigits: 3 } : { minimumFractionDigits: 2, maximumFractionDigits: 6 });
