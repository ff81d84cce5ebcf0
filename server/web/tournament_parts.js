/** What the pages of tournaments share: what is told of one in a few short texts, and lists that turn pages. */

import { get } from "./api.js";
import { el, setText } from "./dom.js";
import { dateText, number } from "./format.js";
import { gameText } from "./room_settings.js";
import { t } from "./words.js";
import "./words_tournaments.js";

/**
 * @typedef {object} Info a tournament as the API lists it
 * @property {string} name
 * @property {"open" | "running" | "finished" | "cancelled"} status
 * @property {string} created
 * @property {string | null} starts
 * @property {string} rules
 * @property {string} length
 * @property {boolean} rated
 * @property {number} entrants
 * @property {number} games
 * @property {number} played
 */

/** How a tournament stands, as chips. @param {Info} info @param {number} [places] @returns {HTMLElement[]} */
export function chips({ status, rules, length, rated, entrants, starts }, places = 0) {
  const begins = starts ? t("tour_starts", { time: dateText(starts, true) }) : t("tour_starts_full");
  return [
    el("strong", { class: `chip tour-${status}` }, t(`tour_${status}`)),
    el("span", { class: "chip" }, gameText(rules, length, rated)),
    el("span", { class: "chip" }, t(places ? "tour_places" : "tour_entrants", { n: entrants, places })),
    ...(status === "open" ? [el("span", { class: "chip" }, begins)] : []),
  ];
}

/** A bar that shows how much is played. */
export function progress() {
  const text = el("span", { class: "number" });
  const bar = el("progress", { max: 1, value: 0, "aria-hidden": "true" });
  const element = el("p", { class: "tour-progress" }, bar, text);
  /** @param {Info} info */
  const update = ({ games, played }) => {
    element.hidden = games === 0;
    bar.value = played / Math.max(1, games);
    setText(text, t("tour_played", { played: number(played), games: number(games) }));
  };
  return { element, update };
}

/**
 * A list of the API of which one page is shown at a time: `look` reads it again, the button turns to the next.
 * @param {() => string} path with a query, without cursor
 * @param {[string, string]} words keys of what the button says: to the next page, to the first
 * @param {(items: any[]) => void} show
 * @param {() => void} again looks at once
 */
export function turned(path, [next, first], show, again) {
  let cursor = "";
  /** @type {string | null} */
  let nextCursor = null;
  const button = el("button", { type: "button", hidden: true, onclick: () => turnTo(nextCursor ?? "") });
  /** @param {string} to */
  function turnTo(to) {
    cursor = to;
    again();
  }
  async function look() {
    const page = await get(`${path()}&cursor=${encodeURIComponent(cursor)}`);
    show(page.items);
    nextCursor = page.next_cursor;
    button.hidden = !cursor && nextCursor === null;
    setText(button, t(nextCursor === null ? first : next));
  }
  return { button, look, turnTo };
}
