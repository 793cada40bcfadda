// The state of the page in the fragment of its address, so that a link shows the same.

const LONGEST = 20000; // characters of a text that a link holds

export function readState() {
  const found = new URLSearchParams(location.hash.slice(1));
  return {
    tokenizers: found.getAll("t").slice(0, 4),
    text: found.get("text"),
    special: found.get("special") === "tokens",
    marks: found.get("marks") !== "no",
    price: found.get("price") ?? "",
  };
}

// Write the state into the address. Returns whether the text is in it too: it may be too long for a link.
export function writeState({ tokenizers, text, special, marks, price }) {
  const found = new URLSearchParams();
  for (const name of tokenizers) found.append("t", name);
  if (special) found.set("special", "tokens");
  if (!marks) found.set("marks", "no");
  if (price) found.set("price", price);
  const whole = text.length <= LONGEST;
  if (whole) found.set("text", text);
  history.replaceState(null, "", `${location.pathname}#${found}`);
  return whole;
}
