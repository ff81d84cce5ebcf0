/** A part of a player's page: the latest games, reviewed as one. */

import { get } from "./api.js";
import { el } from "./dom.js";
import { clearError, showError } from "./page.js";
import { reviewed } from "./review_progress.js";
import { totalsView } from "./review_totals.js";
import { t } from "./words.js";
import "./words_players.js";

/** @typedef {import("./review_totals.js").Mistake} Mistake */

const MOST = 20; // games that the server reviews

/**
 * A form that asks for the review, and its result.
 * @param {string} path of the player in the API
 * @param {number} games that the player has played
 */
export async function reviewForm(path, games) {
  const { review_bots: bots } = await get("/api/server");
  const found = el("div");
  const options = bots.map((/** @type {string} */ bot) => el("option", {}, bot));
  const select = el("select", { id: "review-bot" }, options);
  const button = el("button", { class: "primary" }, t("player_review_start", { n: Math.min(games, MOST) }));
  const ask = async () => {
    const bot = select.value;
    const result = await reviewed(
      found,
      `${path}/reviews?${new URLSearchParams({ bot })}`,
      {},
      "review_games_done",
      () => true,
    );
    found.replaceChildren(totalsView(result, { address: (mistake) => address(mistake, bot), record }));
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    clearError();
    button.disabled = true;
    try {
      await ask();
    } catch (error) {
      found.replaceChildren();
      showError(/** @type {Error} */ (error).message);
    } finally {
      button.disabled = false;
    }
  };
  return [
    el("form", { class: "row", onsubmit: submit }, el("label", { for: "review-bot" }, t("review_bot")), select, button),
    found,
  ];
}

/** A link to the round of a mistake in the replay, by the other players. @param {Mistake} mistake */
function record({ file, names, seat, round }) {
  const href = `/games/${encodeURIComponent(file)}#${new URLSearchParams({ round: String(round), seat: String(seat) })}`;
  return el("a", { class: "review-game", href }, names.filter((_, other) => other !== seat).join(" · "));
}

/** Where a mistake is shown: the review of its game. @param {Mistake} mistake @param {string} bot */
function address({ file, seat, message }, bot) {
  return `/games/${encodeURIComponent(file)}/review#${new URLSearchParams({ seat: String(seat), bot, at: String(message) })}`;
}
