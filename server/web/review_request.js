/** Asks the server for a review: a form for the seat and the bots, the progress, and the review once it is done. */

import "./words_review.js";
import { ApiError } from "./api.js";
import { el } from "./dom.js";
import { clearError, showError } from "./page.js";
import { reviewed } from "./review_progress.js";
import { showReview } from "./review_view.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {{seat: number | null, bots: string[]}} Wanted null: no seat is named, or none there is */
/** @typedef {{game: string, record?: undefined} | {game?: undefined, record: Blob}} Source id of a game of this server, or a gzipped record */

const MOST_BOTS = 2;

/** The seat and the bots that the fragment of the URL names. @param {string[]} bots those there are @returns {Wanted} */
function readFragment(bots) {
  const keys = new URLSearchParams(location.hash.slice(1));
  const seat = keys.get("seat") ?? "";
  const named = [...new Set(keys.getAll("bot"))].filter((bot) => bots.includes(bot));
  return { seat: /^[012]$/.test(seat) ? Number(seat) : null, bots: named.slice(0, MOST_BOTS) };
}

/** @param {Wanted} wanted */
function writeFragment({ seat, bots }) {
  const at = new URLSearchParams(location.hash.slice(1)).get("at");
  const keys = [["seat", String(seat)], ...bots.map((bot) => ["bot", bot]), ...(at ? [["at", at]] : [])];
  history.replaceState(null, "", `#${new URLSearchParams(keys)}`);
}

/** The form, and the review that was asked for last. */
export class ReviewRequest {
  #end = () => {};
  #newest = 0; // counts what was asked for: only the last one is shown
  #found = el("div");
  #heading = el("h1", { class: "hidden-text" });

  /**
   * @param {HTMLElement} main filled with the form, and with the review that the fragment names: of a stored game, a seat
   *   is enough
   * @param {Message[]} messages of the game, canonical
   * @param {string[]} bots those that can review
   * @param {Source} source
   */
  constructor(main, messages, bots, source) {
    this.messages = messages;
    this.source = source;
    const wanted = readFragment(bots);
    if (source.game && wanted.seat !== null && !wanted.bots.length) {
      wanted.bots = bots.slice(0, MOST_BOTS);
      writeFragment(wanted);
    }
    this.#heading.textContent = t("review_of_game", { names: messages[0].names.join(", ") });
    main.replaceChildren(source.game ? this.#heading : "", this.#form(bots, wanted), this.#found);
    if (wanted.seat !== null && wanted.bots.length) this.#start(wanted);
  }

  /** @param {string[]} bots @param {Wanted} wanted */
  #form(bots, wanted) {
    const select = (
      /** @type {string} */ name,
      /** @type {[string | number, string][]} */ options,
      /** @type {string | number} */ chosen,
    ) =>
      el(
        "select",
        { name },
        options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
      );
    const names = bots.map((bot) => /** @type {[string, string]} */ ([bot, bot]));
    const seats = this.messages[0].names.map((/** @type {string} */ name, /** @type {number} */ seat) => [seat, name]);
    const [bot, other = ""] = wanted.bots.length ? wanted.bots : bots;
    const form = el(
      "form",
      { class: "row review-form" },
      el("label", {}, t("review_seat"), select("seat", seats, wanted.seat ?? 0)),
      el("label", {}, t("review_bot"), select("bot", names, bot)),
      el("label", {}, t("review_beside"), select("bot", [["", t("review_nobody")], ...names], other)),
      el("button", { class: "primary" }, t("review_start")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const values = new FormData(form);
      const chosen = [...new Set(values.getAll("bot").map(String))].filter(Boolean);
      writeFragment({ seat: Number(values.get("seat")), bots: chosen });
      this.#start(readFragment(bots));
    });
    return form;
  }

  /** @param {Wanted} wanted */
  async #start(wanted) {
    const number = ++this.#newest;
    this.#end();
    this.#heading.hidden = false;
    clearError();
    try {
      await this.#review(wanted, number);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (number !== this.#newest) return;
      this.#found.replaceChildren();
      showError(error.message);
    }
  }

  /** Ask for a review, wait for it, and show it. @param {Wanted} wanted @param {number} number of this request */
  async #review({ seat, bots }, number) {
    const { game = "", record } = this.source;
    const query = new URLSearchParams([["seat", String(seat)], ...bots.map((bot) => ["bot", bot])]);
    if (game) query.set("game", game);
    const headers = record && { "Content-Type": "application/gzip" };
    const isWanted = () => number === this.#newest;
    const result = await reviewed(
      this.#found,
      `/api/reviews?${query}`,
      { body: record, headers },
      "review_working",
      isWanted,
    );
    if (!result) return;
    this.#end = showReview(this.#found, this.messages, result, game, true);
    this.#heading.hidden = true; // the review has one
  }
}
