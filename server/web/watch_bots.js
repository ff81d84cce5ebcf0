/** "Watch the bots": starts a game of three house bots, and goes there. */

import { ApiError, post } from "./api.js";
import { withToken } from "./ask.js";
import { el } from "./dom.js";
import { botOptions } from "./play_now.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */

const SEATS = 3;
const PAUSE = 1; // seconds before each decision
const PLAYING = "exhibition"; // code of the error where a game that was asked for goes on

/**
 * The form. The server names the strongest bots first: they are chosen.
 * @param {ServerInfo} server
 * @returns {HTMLFormElement}
 */
export function watchBots({ house_bots, ratings, tokens_needed }) {
  const choices = Array.from({ length: SEATS }, (_, index) => {
    const options = botOptions(house_bots, ratings, house_bots[index % house_bots.length]);
    return el("label", { class: "field" }, t("lobby_bot", { n: index + 1 }), el("select", { name: "bot" }, options));
  });
  const problem = el("p", { class: "bad", role: "alert" });
  const button = el("button", {}, t("lobby_watch_bots"));
  const form = el(
    "form",
    { class: "lobby-watch-form", onsubmit: submitted },
    choices,
    button,
    el("p", { class: "muted lobby-hint" }, t("lobby_watch_bots_text", { pause: PAUSE })),
    problem,
  );

  /** @param {Event} event */
  async function submitted(event) {
    event.preventDefault();
    const bots = new FormData(form).getAll("bot");
    button.disabled = true;
    problem.replaceChildren();
    try {
      const game = await withToken(tokens_needed, () => post("/api/games", { bots, pause: PAUSE }));
      if (game) location.assign(`/games/${game.id}`);
    } catch (error) {
      problem.append(/** @type {Error} */ (error).message, " ", gameLink(error));
    }
    button.disabled = false;
  }

  return form;
}

/** A link to the game that goes on, where that is why there is no other. @param {unknown} error */
function gameLink(error) {
  const { code, values } = error instanceof ApiError ? error.problem : {};
  return code === PLAYING && values ? el("a", { href: `/games/${values.id}` }, t("lobby_watch_playing")) : "";
}
