/** What a player may press at any time: what is no action of the game. */

import { ask } from "./ask.js";
import { el } from "./dom.js";
import { toggle } from "./play_controls.js";
import { t } from "./words.js";
import "./words_rooms.js";

/**
 * @typedef {object} Possible what can be done now
 * @property {boolean} playing whether a game is being played
 * @property {boolean} hints whether the room gives hints
 * @property {boolean} asked whether the player is asked for an action
 * @property {boolean} rated whether the game counts for ratings
 */

/** The buttons, and the keys that one of them shows. */
export class Tools {
  /**
   * Leaving is done once the player has agreed.
   * @param {() => void} hint
   * @param {() => void} leave
   * @param {() => void} changed what is shown
   */
  constructor(hint, leave, changed) {
    this.rated = true; // whether the game counts for ratings
    this.danger = false; // whether the danger of the own tiles is shown
    const turnDanger = (/** @type {boolean} */ on) => {
      this.danger = on;
      changed();
    };
    const danger = toggle(t("play_danger"), false, turnDanger, "d");
    this.yaku = false; // whether the table of yaku is shown
    const turnYaku = (/** @type {boolean} */ on) => {
      this.yaku = on;
      changed();
    };
    this.yakuButton = toggle(t("play_yaku"), false, turnYaku, "t");
    this.hint = el("button", { ...tool("h"), onclick: hint }, t("play_hint"));
    this.unrated = el("span", { class: "chip" }, t("room_unrated"));
    this.keys = el("p", { class: "play-keys", hidden: true }, t("play_keys"));
    this.help = el(
      "button",
      { ...tool("?"), "aria-expanded": "false", onclick: () => this.turnHelp() },
      t("play_help"),
    );
    this.leave = el("button", { ...tool("l"), onclick: () => askToLeave(this.rated, leave) }, t("play_leave"));
    const label = t("play_tools");
    const parts = [this.hint, danger, this.yakuButton, this.help, this.leave, this.unrated];
    this.element = el("div", { class: "play-tools", role: "group", "aria-label": label }, parts);
    this.show({ playing: false, hints: false, asked: false, rated: true });
  }

  /** Show the keys or hide them. */
  turnHelp() {
    this.keys.hidden = !this.keys.hidden;
    this.help.setAttribute("aria-expanded", String(!this.keys.hidden));
  }

  /** @param {Possible} possible */
  show({ playing, hints, asked, rated }) {
    this.rated = rated;
    this.leave.hidden = !playing;
    this.hint.hidden = !playing || !hints || rated;
    this.hint.disabled = !asked;
    this.unrated.hidden = !playing || rated;
  }
}

/** The attributes of a button. @param {string} key */
function tool(key) {
  return { type: "button", class: "switch", "data-key": key };
}

/** @param {boolean} rated @param {() => void} leave */
async function askToLeave(rated, leave) {
  const text = t(rated ? "play_leave_text" : "play_leave_unrated");
  const question = { title: t("play_leave_title"), text, send: t("play_leave_send") };
  if ((await ask(question)) !== null) leave();
}
