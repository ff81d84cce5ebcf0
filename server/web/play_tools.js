/** What a player may press at any time: what is no action of the game. */

import { ask } from "./ask.js";
import { el } from "./dom.js";
import { t } from "./words.js";

/** The buttons, and the keys that one of them shows. */
export class Tools {
  /** @param {() => void} leave what is done once the player has agreed */
  constructor(leave) {
    this.keys = el("p", { class: "play-keys", hidden: true }, t("play_keys"));
    this.help = el(
      "button",
      { ...tool("?"), "aria-expanded": "false", onclick: () => this.turnHelp() },
      t("play_help"),
    );
    this.leave = el("button", { ...tool("l"), onclick: () => askToLeave(leave) }, t("play_leave"));
    const label = t("play_tools");
    this.element = el("div", { class: "play-tools", role: "group", "aria-label": label }, this.help, this.leave);
    this.show(false);
  }

  /** Show the keys or hide them. */
  turnHelp() {
    this.keys.hidden = !this.keys.hidden;
    this.help.setAttribute("aria-expanded", String(!this.keys.hidden));
  }

  /** Offer what can be done. @param {boolean} playing whether a game is being played */
  show(playing) {
    this.leave.hidden = !playing;
  }
}

/** The attributes of a button. @param {string} key */
function tool(key) {
  return { type: "button", class: "switch", "data-key": key };
}

/** @param {() => void} leave */
async function askToLeave(leave) {
  const question = { title: t("play_leave_title"), text: t("play_leave_text"), send: t("play_leave_send") };
  if ((await ask(question)) !== null) leave();
}
