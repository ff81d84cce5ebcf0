/** The page with the puzzle of a day: `?date=2025-06-01`, by default today's. The bots' values are shown after a discard. */

import "./table.js";
import "./words_puzzle.js";
import { actionOf, marksOf } from "./annotations.js";
import { ApiError, get } from "./api.js";
import { el } from "./dom.js";
import { states } from "./mjai.js";
import { showError, startPage } from "./page.js";
import { listenToKeys } from "./play_controls.js";
import { positionAddress, positionOf } from "./position_text.js";
import * as parts from "./review_parts.js";
import { namedBySide, seatWind, shortRoundName } from "./table_words.js";
import { tile } from "./tile.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */

/**
 * @typedef {object} Puzzle what `GET /api/puzzle` returns (docs/web.md)
 * @property {string} date
 * @property {string} game id, to link its replay; "" for none
 * @property {number} seat
 * @property {number} round
 * @property {Message[]} messages of the round, after a `start_game`
 * @property {{bot: string, actions: parts.Option[]}[]} bots
 * @property {Message} played
 */

const BETWEEN = 2000; // milliseconds between questions whether it is made

const main = startPage(t("puzzle_title"));
const place = el("div", {}, el("p", { role: "status" }, t("puzzle_making")));
main.classList.add("review-page");
main.append(el("h1", {}, t("puzzle_title")), place);
/** The puzzle, once it is made. @returns {Promise<Puzzle>} @throws {ApiError} */
async function made() {
  const date = new URLSearchParams(location.search).get("date");
  const path = `/api/puzzle${date ? `?${new URLSearchParams({ date })}` : ""}`;
  let puzzle = await get(path);
  while (puzzle.status === "computing") {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN));
    if (!document.hidden) puzzle = await get(path);
  }
  return puzzle;
}

class PuzzleView {
  #table = /** @type {import("./table.js").NukiTable} */ (document.createElement("nuki-table"));
  #answer = el("div", { role: "status" }, el("p", { class: "muted" }, t("puzzle_help")));
  #opinions = el("div", { class: "review-opinions" });
  #links = el("div", { class: "row" });

  /** @param {Puzzle} puzzle */
  constructor(puzzle) {
    this.puzzle = puzzle;
    const { date, seat, bots } = puzzle;
    this.state = namedBySide(/** @type {State} */ (states(puzzle.messages).at(-1)), seat);
    const question = t("puzzle_question", {
      date,
      round: this.state.round ? shortRoundName(this.state.round) : "",
      wind: seatWind(this.state, seat),
    });
    const aside = el(
      "div",
      { class: "review-aside" },
      el("p", { class: "review-place" }, question),
      this.#answer,
      this.#opinions,
      this.#links,
    );
    this.element = el("div", { class: "review" }, el("div", { class: "review-stage" }, this.#table, aside));
    const hand = bots[0].actions.map(({ action }) => action.pai);
    const playable = { hand, drawn: hand.includes(this.state.seats[seat].drawn) };
    this.#table.show(this.state, { bottom: seat, open: false, playable });
    this.#table.addEventListener("discard", (event) => this.#discard(/** @type {CustomEvent} */ (event).detail.tile));
    const tiles = () => [...this.#table.querySelectorAll("button")];
    listenToKeys(this.element, tiles, () => this.#table.querySelector("button.drawn"));
  }

  /** Show what the bots think of it. @param {string} own */
  #discard(own) {
    const { bots, seat, played } = this.puzzle;
    const opinions = bots.map(({ actions }) => opinionOn(actions, own));
    const [first] = opinions;
    const choices = first.actions.map((option) => ({
      action: actionOf(option.action),
      value: option.value ?? 0,
      height: parts.fill(option, first),
      text: parts.optionText(option),
    }));
    const marks = marksOf(choices, { type: "dahai", tile: own }, this.state.seats[seat]);
    this.#table.show(this.state, { bottom: seat, open: false, marks });
    const best = first.actions[0].action.pai;
    this.#answer.replaceChildren(
      el("p", {}, el("strong", {}, t(own === best ? "puzzle_right" : "puzzle_wrong"))),
      el("p", { class: "row" }, named("yours", own), named("best", best), named("played", played.pai)),
    );
    this.#opinions.replaceChildren(...bots.map(({ bot }, index) => parts.opinionPanel(bot, opinions[index])));
    this.#links.replaceChildren(...this.#linked());
  }

  #linked() {
    const { game, round, seat, messages, bots } = this.puzzle;
    const ofRound = messages.slice(1);
    const place = `round=${round}&step=${ofRound.length - 1}&seat=${seat}`;
    const replay = `/games/${encodeURIComponent(game)}#${place}`;
    const position = positionOf(this.state, ofRound, seat);
    const names = bots.map(({ bot }) => bot);
    return [
      game ? el("a", { class: "button", "data-control": "replay", href: replay }, t("review_replay")) : [],
      position
        ? el(
            "a",
            { class: "button", "data-control": "analyse", href: positionAddress(position, names) },
            t("review_analyse"),
          )
        : [],
    ].flat();
  }
}

/** A bot's opinion on a discard. @param {parts.Option[]} actions @param {string} own @returns {parts.Opinion} */
function opinionOn(actions, own) {
  const actual = actions.findIndex(({ action }) => action.pai === own);
  const [best, value] = [actions[0].value, actions[actual].value];
  return { best: 0, actual, loss: best === null || value === null ? null : best - value, actions };
}

/** A discard, and whose it is. @param {string} whose @param {string} name */
function named(whose, name) {
  return el("span", { class: "puzzle-tile", [`data-${whose}`]: name }, t(`puzzle_${whose}`), tile(name));
}

/** What stands here until there are games to choose from. */
function noPuzzle() {
  const lobby = el("a", { class: "button", href: "/" }, t("puzzle_lobby"));
  return el("section", { class: "card puzzle-none" }, el("p", {}, t("puzzle_none")), lobby);
}

try {
  place.replaceChildren(new PuzzleView(await made()).element);
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  const isNone = error.problem.code === "no_puzzle";
  place.replaceChildren(...(isNone ? [noPuzzle()] : []));
  if (!isNone) showError(error.message);
}
