// The ids of a text: as text that opens below its tokens, and for other programs.

import { count, make } from "./page.js";

export class IdList {
  // say: told what was copied.
  constructor(say) {
    this.ids = [];
    this.say = say;
    this.copy = make("button", { type: "button", disabled: true }, "Copy ids");
    this.field = make("textarea", { rows: 4, readonly: true, "aria-label": "Token ids" });
    this.details = make("details", {}, make("summary", {}, "Ids as text"), this.field);
    this.element = make("div", { class: "ids" }, this.copy, this.details);
    this.copy.addEventListener("click", () => this.copyAll());
    this.details.addEventListener("toggle", () => this.fill());
  }

  show(ids) {
    this.ids = ids;
    this.copy.disabled = ids.length === 0;
    this.fill();
  }

  // Of a text of megabytes, ids are written out where somebody looks at them.
  fill() {
    this.field.value = this.details.open ? this.ids.join(" ") : "";
  }

  async copyAll() {
    try {
      await navigator.clipboard.writeText(this.ids.join(" "));
      this.say(`Copied ${count(this.ids.length, "id")}.`);
    } catch {
      this.details.open = true;
      this.say("The browser does not let the page copy: the ids are shown below the tokens.");
    }
  }
}
