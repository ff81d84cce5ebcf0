/** The time left for a decision and the bank, as bars: estimated from when the question came. */

import { el } from "./dom.js";
import { play } from "./sounds.js";
import { t } from "./words.js";

const TICK = 100; // ms
const URGENT = 3; // seconds left

/** Two bars and the seconds left. Both times are in seconds. */
export class Clock {
  constructor() {
    this.decisionTime = 0; // 0: not known yet
    this.bank = 0;
    this.askedAt = 0; // ms; 0: no question is open
    this.shown = true; // whether an open question is shown
    this.full = 0; // seconds in the bank at the start
    this.text = el("span", { class: "clock-text" });
    this.bars = ["clock-decision", "clock-bank"].map((name) => el("span", { class: `clock-bar ${name}` }, el("span")));
    this.element = el("div", { class: "clock", role: "timer", title: t("play_clock") }, this.bars, this.text);
    this.said = 0;
    setInterval(() => this.#draw(), TICK);
  }

  /** The room's limits. @param {number} decisionTime @param {number} full in the bank @param {number} left of it */
  set(decisionTime, full, left) {
    this.decisionTime = decisionTime;
    this.full = full;
    this.bank = left;
    this.#draw();
  }

  /** A question has come. @param {number} at time in ms */
  start(at) {
    this.askedAt = at;
    this.said = URGENT + 1;
    this.#draw();
  }

  /**
   * No question is open any more.
   * @returns {number | null} seconds left in the bank, null if none was open, or the limits are not known yet
   */
  stop() {
    if (!this.askedAt) return null;
    this.bank = this.#left().bank;
    this.askedAt = 0;
    this.#draw();
    return this.decisionTime ? this.bank : null;
  }

  /** While the result of a round is shown, a question that is open already is not: its time still runs. @param {boolean} shown */
  show(shown) {
    this.shown = shown;
    this.#draw();
  }

  #left() {
    const used = this.askedAt ? (Date.now() - this.askedAt) / 1000 : 0;
    const decision = Math.max(0, this.decisionTime - used);
    return { decision, bank: Math.max(0, this.bank - Math.max(0, used - this.decisionTime)) };
  }

  #draw() {
    this.element.hidden = !this.decisionTime;
    if (!this.decisionTime) return;
    const running = this.shown && this.askedAt > 0;
    const { decision, bank } = running ? this.#left() : { decision: 0, bank: this.bank };
    const shares = [decision / this.decisionTime, this.full ? bank / this.full : 0];
    for (const [index, bar] of this.bars.entries()) bar.style.setProperty("--left", String(shares[index]));
    const left = Math.ceil(decision + bank);
    const urgent = running && left <= URGENT;
    this.element.classList.toggle("clock-running", running);
    this.element.classList.toggle("clock-urgent", urgent);
    this.text.textContent = running ? `${Math.ceil(decision)} + ${Math.ceil(bank)}` : `+ ${Math.ceil(bank)}`;
    if (urgent && left < this.said) play("hurry");
    this.said = Math.min(this.said, left);
  }
}
