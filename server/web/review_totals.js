/** What reviews of many games of a player add up to: on a player's page, and in the file of `--player NAME --html`. */

import "./table.js";
import "./words_review.js";
import { actionOf, marksOf } from "./annotations.js";
import { el } from "./dom.js";
import { percent } from "./format.js";
import { followed, REGION } from "./review_followed.js";
import * as parts from "./review_parts.js";
import { shortRoundName } from "./table_words.js";
import { language, t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {{mean: number, interval: number | null}} Estimate */
/** @typedef {parts.Figures & {loss_per_game: Estimate}} Row */
/** @typedef {Row & Record<"by_kind" | "by_shanten" | "by_turn", Record<string, Row>>} Summary */

/**
 * @typedef {object} Mistake
 * @property {number} loss
 * @property {string} file of the record, or the id of the game
 * @property {string[]} names
 * @property {number} seat
 * @property {number} round index of the round
 * @property {string} bakaze
 * @property {number} kyoku
 * @property {number} honba
 * @property {number} turn
 * @property {string} kind
 * @property {number} message index of the message after which the seat decided
 * @property {Message} actual
 * @property {Message} preferred
 */

/** @typedef {{player: string, bots: string[], games: number, summary: Summary[], mistakes: Mistake[][]}} Totals */
/** @typedef {{messages: Message[], decision: parts.Decision}} Shown a mistake to look at: its round up to it */

/**
 * What a page makes of the mistakes.
 * @typedef {object} Page
 * @property {(mistake: Mistake, bot: number, index: number) => string} address where a mistake is shown
 * @property {(mistake: Mistake) => Node} record names the game of a mistake
 */

/** The names of the rows of each table. @type {[("by_kind" | "by_shanten" | "by_turn"), (row: string) => string][]} */
const TABLES = [
  ["by_kind", (row) => t(`review_kind_${row}`)],
  ["by_shanten", (row) => (row.endsWith("+") ? t("review_shanten", { n: row }) : parts.shantenText(Number(row)))],
  ["by_turn", (row) => row.replace("-", "–")],
];

const MISTAKE_HEADS = [
  "review_loss_short",
  "review_decision",
  "review_kind",
  "review_actual",
  "review_best",
  "review_record",
];
const WIDE = ["review_kind", "review_record"]; // of these, not on phones

/** @param {Estimate} loss of a game */
function lossOfGame({ mean, interval }) {
  return `${mean.toFixed(3)} ± ${interval === null ? "–" : interval.toFixed(3)}`;
}

/**
 * A table: how many decisions, and of each bot how often it agrees, and what they cost.
 * @param {Totals} totals @param {"by_kind" | "by_shanten" | "by_turn"} group @param {(row: string) => string} nameOf
 */
function table({ bots, summary }, group, nameOf) {
  const head = (/** @type {string} */ text) => el("th", { scope: "col", class: "number" }, text);
  const line = (/** @type {string} */ name, /** @type {Row[]} */ figures) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", { class: "number" }, figures[0].decisions),
      figures.flatMap(({ accuracy, mean_loss, loss_per_game }) => [
        el("td", { class: "number" }, percent(accuracy)),
        el("td", { class: "number" }, parts.lossNode(mean_loss)),
        el("td", { class: "number review-interval" }, lossOfGame(loss_per_game)),
      ]),
    );
  const heads = bots.flatMap((bot) => [
    head(t("review_accuracy", { bot })),
    head(t("review_mean", { bot })),
    head(t("review_per_game", { bot })),
  ]);
  const names = Object.keys(summary[0][group]); // of numbers in any order
  if (group !== "by_kind") names.sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));
  const rows = names.map((row) =>
    line(
      nameOf(row),
      summary.map((each) => each[group][row]),
    ),
  );
  if (group === "by_kind") rows.unshift(line(t("review_all"), summary));
  return el(
    "table",
    { class: "list" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t(`review_${group}`)), head(t("review_count")), heads)),
    el("tbody", {}, rows),
  );
}

/** The round of a mistake. @param {Mistake} mistake */
function roundOf({ bakaze: wind, kyoku, honba }) {
  return shortRoundName({ wind, kyoku, honba });
}

/**
 * The costliest mistakes that a bot sees.
 * @param {Totals} totals @param {number} number of the bot @param {Page} page
 */
function mistakeTable({ bots, mistakes }, number, { address, record }) {
  const bot = bots[number];
  const head = (/** @type {string} */ key) =>
    el("th", { scope: "col", class: WIDE.includes(key) ? "review-wide" : null }, t(key, { bot }));
  return el(
    "table",
    { class: "list" },
    el("thead", {}, el("tr", {}, MISTAKE_HEADS.map(head))),
    el(
      "tbody",
      {},
      mistakes[number].map((mistake, index) =>
        el(
          "tr",
          {},
          el("td", { class: "number" }, parts.lossNode(mistake.loss)),
          el(
            "th",
            { scope: "row" },
            el("a", { href: address(mistake, number, index) }, `${roundOf(mistake)} · ${mistake.turn}`),
          ),
          el("td", { class: "review-wide" }, t(`review_kind_${mistake.kind}`)),
          el("td", {}, parts.actionNode(mistake.actual)),
          el("td", {}, parts.actionNode(mistake.preferred)),
          el("td", { class: "review-wide" }, record(mistake)),
        ),
      ),
    ),
  );
}

/**
 * All tables, and the mistakes of each bot.
 * @param {Totals} totals
 * @param {Page} page
 */
export function totalsView(totals, page) {
  const section = (/** @type {string} */ title, /** @type {HTMLElement[]} */ ...tables) =>
    el(
      "section",
      {},
      el("h2", {}, title),
      ...tables.map((each) => el("div", { ...REGION, "aria-label": title }, each)),
    );
  return el(
    "div",
    { class: "review-totals" },
    section(t("review_where"), ...TABLES.map(([group, nameOf]) => table(totals, group, nameOf))),
    parts.unknownNotes(totals),
    totals.bots.map((bot, number) => {
      const title = t("review_costliest", { bot });
      return totals.mistakes[number].length > 0
        ? section(title, mistakeTable(totals, number, page))
        : el("p", {}, t("review_no_loss", { bot }));
    }),
    el("p", { class: "muted" }, t("review_explained")),
  );
}

/**
 * A mistake on its table, with what the bot thinks of it.
 * @param {Shown} shown @param {string} bot @param {Mistake} mistake
 */
function mistakeView({ messages, decision }, bot, { seat, file }) {
  const state = followed(messages)[decision.message];
  const [opinion] = decision.reviews;
  const choices = opinion.actions.map((option) => ({
    action: actionOf(option.action),
    value: option.value ?? 0,
    height: parts.fill(option, opinion),
    text: parts.optionText(option),
  }));
  const drawn = /** @type {import("./table.js").NukiTable} */ (document.createElement("nuki-table"));
  drawn.show(state, {
    bottom: seat,
    open: false,
    marks: marksOf(choices, actionOf(decision.actual), state.seats[seat]),
  });
  const place = `${parts.roundOf(state)} · ${t("review_turn", { turn: decision.turn })} · ${parts.shantenText(decision.shanten)}`;
  return el(
    "div",
    { class: "review" },
    el(
      "div",
      { class: "review-stage" },
      drawn,
      el(
        "div",
        { class: "review-aside" },
        el("p", { class: "review-place" }, place, " · ", file),
        parts.opinionPanel(bot, opinion),
      ),
    ),
  );
}

/**
 * Show the page of a file: `#bot=0&mistake=2` is the third of the costliest mistakes that the first bot sees.
 * @param {HTMLElement} main filled with it
 * @param {{totals: Totals, shown: Shown[][]}} data
 */
export function show(main, { totals, shown }) {
  const { player, games } = totals;
  const looked = el("section", { "aria-live": "polite" });
  const look = () => {
    const keys = new URLSearchParams(location.hash.slice(1));
    const [bot, index] = [Number(keys.get("bot")), Number(keys.get("mistake") ?? NaN)];
    const [mistake, found] = [totals.mistakes[bot]?.[index], shown[bot]?.[index]];
    looked.replaceChildren(...(found ? [mistakeView(found, totals.bots[bot], mistake)] : []));
    if (found) looked.scrollIntoView({ block: "nearest" });
  };
  document.documentElement.lang = language();
  main.replaceChildren(
    el("h1", { class: "review-heading" }, t("review_games_title", { name: player, games })),
    looked,
    totalsView(totals, {
      address: (_, bot, index) => `#bot=${bot}&mistake=${index}`,
      record: ({ file }) => el("span", { class: "review-file" }, file),
    }),
  );
  addEventListener("hashchange", look);
  look();
}
