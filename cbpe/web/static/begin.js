// How every page begins, what it says when something fails, and the token that it then may ask for.

import { Problem, keepToken, takeToken } from "./api.js";
import { byId, useTheme } from "./page.js";

export function problem(message) {
  byId("problem").textContent = message ?? "";
  byId("problem").hidden = !message;
}

export function failed(error) {
  if (!(error instanceof Problem)) throw error;
  byId("ask-token").hidden = error.status !== 401;
  problem(error.message);
}

// start: what asks the server for what the page shows at first. It runs again when somebody gives the token. moved: what
// is done where somebody changes the address behind '#'. The one that cbpe ui prints, with a token, begins the page anew.
export function begin(start, moved = () => {}) {
  useTheme();
  takeToken();
  const run = () => {
    problem(null);
    start().then(() => { byId("ask-token").hidden = true; }).catch(failed);
  };
  byId("ask-token").addEventListener("submit", (event) => {
    event.preventDefault();
    keepToken(byId("access-token").value);
    run();
  });
  window.addEventListener("hashchange", () => {
    if (takeToken()) location.reload();
    else moved();
  });
  run();
}
