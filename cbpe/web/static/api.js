// Asking the server. Where it wants a token, that comes with the address which cbpe ui prints, and is kept in the browser.

const KEPT = "cbpe-token";

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// Take the token out of the address, so that no link holds it. Whether there was one.
export function takeToken() {
  const found = new URLSearchParams(location.hash.slice(1));
  const token = found.get("token");
  if (token === null) return false;
  keepToken(token);
  found.delete("token");
  const rest = found.toString();
  history.replaceState(null, "", location.pathname + (rest ? `#${rest}` : ""));
  return true;
}

export function keepToken(token) {
  localStorage.setItem(KEPT, token.trim());
}

async function answer(path, options = {}) {
  const headers = { ...options.headers };
  const token = localStorage.getItem(KEPT);
  if (token && /^[\x21-\x7e]+$/.test(token)) headers.Authorization = `Bearer ${token}`;
  let found;
  try {
    found = await fetch(path, { ...options, headers });
  } catch {
    throw new Problem(0, "The server does not answer: is cbpe ui still running?");
  }
  const value = await found.json().catch(() => ({ error: `The server answered with status ${found.status}.` }));
  if (!found.ok) throw new Problem(found.status, value.error);
  return value;
}

export function ask(name, values = {}) {
  const query = new URLSearchParams(values).toString();
  return answer(`/api/v1/${name}${query ? `?${query}` : ""}`);
}

export function send(name, values) {
  return answer(`/api/v1/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(values),
  });
}
