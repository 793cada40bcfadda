// What every page has: elements made without markup, and the choice of colours.

// An element: make("p", {class: "dim"}, "text", child). Texts become text, never markup.
export function make(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) found.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) found.setAttribute(key, value);
  }
  found.append(...children);
  return found;
}

const addresses = new WeakMap(); // links -> what gives their addresses

// A link whose address changes with what the page shows: see followState.
export const makeLink = (addressOf, attributes, ...children) => following(make("a", attributes, ...children), addressOf);

// Make an element such a link: one of a picture too.
export function following(link, addressOf) {
  link.setAttribute("href", addressOf());
  addresses.set(link, addressOf);
  return link;
}

// Give every such link the address that it has now.
export function followState() {
  for (const link of document.querySelectorAll("a")) if (addresses.has(link)) link.setAttribute("href", addresses.get(link)());
}

const SVG = "http://www.w3.org/2000/svg";

// An element of a picture.
export function draw(name, attributes, ...children) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...children);
  return found;
}

export const byId = (id) => document.getElementById(id);

export const number = (value, digits = 0) =>
  rounded(value, digits).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

// As Python rounds, so that the command line shows the same: what the number is to its last bit counts (52.15 is a
// little less), and of two that are as near the even one is taken.
function rounded(value, digits) {
  if (!(Math.abs(value) < 1e15)) return value;
  const exact = value.toFixed(100);
  const end = exact.indexOf(".") + 1 + digits;
  const isTie = /^50*$/.test(exact.slice(end));
  return Number(isTie && /[02468]\.?$/.test(exact.slice(0, end)) ? exact.slice(0, end) : value.toFixed(digits));
}

// "1 token", "2 tokens"
export const count = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;

const KEPT = "cbpe-theme";

export function useTheme() {
  const select = byId("theme");
  const set = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  };
  select.value = localStorage.getItem(KEPT) ?? "";
  set(select.value);
  select.addEventListener("change", () => {
    localStorage.setItem(KEPT, select.value);
    set(select.value);
  });
}
