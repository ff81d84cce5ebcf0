/** The controls of a replay: buttons, the seek bar with what happens in the game above it, the list of rounds. */

import { el, svg } from "./dom.js";
import { shortRoundName } from "./table_words.js";
import { t } from "./words.js";

/** @typedef {import("./record.js").Timeline} Timeline */

/** Shapes of the buttons, in a box of 24 by 24. @type {Record<string, string>} */
const ICONS = {
  previous_round: "M4 5h2v14H4zM13 5v14l-7-7zM20 5v14l-7-7z",
  previous_decision: "M19 5v14l-8-7zM10 12a3 3 0 1 0-6 0a3 3 0 1 0 6 0z",
  back: "M17 5v14l-8-7zM6 5h2v14H6z",
  play: "M8 5v14l11-7z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  step: "M7 5v14l8-7zM16 5h2v14h-2z",
  next_decision: "M5 5v14l8-7zM14 12a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
  next_round: "M4 5v14l7-7zM11 5v14l7-7zM18 5h2v14h-2z",
};

/**
 * A button with a shape, named by its words `replay_…`.
 * @param {string} name a key of ICONS
 * @param {() => void} onclick
 */
export function iconButton(name, onclick) {
  const button = el("button", { type: "button", class: "icon", "data-control": name, onclick });
  setIcon(button, name);
  return button;
}

/** @param {HTMLButtonElement} button @param {string} name */
export function setIcon(button, name) {
  button.replaceChildren(svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name] })));
  button.title = t(`replay_${name}`);
  button.setAttribute("aria-label", button.title);
}

/** The bar to seek in: an input above which wins, riichi, calls and the rounds are marked. */
export class SeekBar {
  #rounds = el("div", { class: "seek-rounds" });
  #marks = el("div", { class: "seek-marks" });
  /** @type {number[]} */
  #marked = []; // places of the marks

  /** @param {(place: number) => void} go */
  constructor(go) {
    this.input = el("input", { type: "range", min: 0, step: 1, "aria-label": t("replay_seek") });
    this.input.addEventListener("input", () => go(this.input.valueAsNumber));
    this.element = el("div", { class: "seek" }, this.#rounds, this.#marks, this.input);
  }

  /** Show the marks of a game; those that are there already stay. @param {Timeline} timeline */
  update(timeline) {
    this.input.max = String(Math.max(timeline.last, 0));
    this.element.style.setProperty("--last", String(Math.max(timeline.last, 1)));
    const marks = timeline.marks().slice(this.#marks.childElementCount);
    this.#marks.append(...marks.map(({ place, kind }) => at(place, { class: `seek-mark ${kind}`, "data-mark": kind })));
    this.#marked.push(...marks.map(({ place }) => place));
    const rounds = timeline.rounds.slice(this.#rounds.childElementCount);
    this.#rounds.append(...rounds.map(({ first }) => at(first, { class: "seek-round" })));
  }

  /** Forget all marks. */
  clear() {
    this.#marks.replaceChildren();
    this.#marked = [];
    this.#rounds.replaceChildren();
  }

  /** @param {number} place @param {string} text where that is @param {number} until the last place that may be marked */
  show(place, text, until) {
    this.input.value = String(place);
    this.input.setAttribute("aria-valuetext", text);
    for (const [index, mark] of [...this.#marks.children].entries()) {
      /** @type {HTMLElement} */ (mark).hidden = this.#marked[index] > until;
    }
  }
}

/** @param {number} place @param {Record<string, string>} attributes */
function at(place, attributes) {
  const element = el("span", attributes);
  element.style.setProperty("--at", String(place));
  return element;
}

/** The list of rounds, to jump to their starts. */
export class RoundList {
  #go;
  #shown = -1;

  /** @param {(place: number) => void} go */
  constructor(go) {
    this.element = el("div", { class: "rounds", role: "group", "aria-label": t("replay_rounds") });
    this.#go = go;
  }

  /** @param {Timeline} timeline */
  update(timeline) {
    const buttons = timeline.rounds
      .slice(this.element.childElementCount)
      .map(({ round, first }) =>
        el("button", { type: "button", class: "quiet", onclick: () => this.#go(first) }, shortRoundName(round)),
      );
    this.element.append(...buttons);
  }

  /** Forget all rounds. */
  clear() {
    this.element.replaceChildren();
    this.#shown = -1;
  }

  /** @param {number} round the one to mark */
  show(round) {
    if (round === this.#shown) return;
    this.element.children[this.#shown]?.removeAttribute("aria-current");
    const button = /** @type {HTMLElement | undefined} */ (this.element.children[round]);
    this.#shown = round;
    if (!button) return;
    button.setAttribute("aria-current", "true");
    const beyond = button.offsetLeft - (this.element.clientWidth - button.offsetWidth) / 2;
    this.element.scrollLeft = beyond; // only this list moves, not the page
  }
}
