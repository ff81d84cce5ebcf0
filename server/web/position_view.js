/** An analysis as it is shown: the table with bars, the bots' opinions, the hand after each discard, waits and scores. */

import "./table.js";
import "./words_position.js";
import { actionOf, marksOf } from "./annotations.js";
import { el } from "./dom.js";
import { number, percent } from "./format.js";
import { initial, sorted, states } from "./mjai.js";
import { tilesOf, WINDS } from "./position_text.js";
import * as parts from "./review_parts.js";
import { namedBySide, shortRoundName, windName } from "./table_words.js";
import { tile, tileName } from "./tile.js";
import { language, t } from "./words.js";
import { yakuName } from "./yaku.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./mjai.js").Meld} Meld */
/** @typedef {import("./position_text.js").Position} Position */

/**
 * @typedef {object} Win
 * @property {boolean} tsumo
 * @property {boolean} riichi
 * @property {[string, number][]} yakus names of mjai, and han
 * @property {number} fan
 * @property {number} fu
 * @property {number} yakuman
 * @property {number} points
 * @property {number[]} payments
 */

/**
 * @typedef {object} Hand a hand after a discard
 * @property {string | null} discard null: as it is
 * @property {number} shanten
 * @property {Record<string, number>} ukeire tiles left of each kind
 * @property {number} left
 * @property {number} danger
 * @property {boolean} furiten
 * @property {{tile: string, left: number, wins: Win[]}[]} waits
 */

/**
 * @typedef {object} Analysis what `POST /api/positions` returns (docs/web.md)
 * @property {Position} position
 * @property {number} seat
 * @property {import("./mjai.js").Message[]} messages that lead to the position; none: they are not known
 * @property {number} left draws left
 * @property {number} shanten
 * @property {Win | null} win that may be taken now
 * @property {Hand[]} hands
 * @property {{bot: string, actions: parts.Option[]}[]} bots
 */

const REGION = { class: "scroll", tabindex: 0, role: "region" };
const HAND_SIZE = 13;
const COPIES = 4;
const NO_ACTION = { type: "", tile: "" };
/** Tiles of the melds of a position without rivers. @type {Record<string, {type: Meld["type"], size: number}>} */
const MELDS = {
  P: { type: "pon", size: 3 },
  M: { type: "daiminkan", size: 4 },
  A: { type: "ankan", size: 4 },
};

/** The state of the table. @param {Analysis} analysis @returns {State} */
function stateOf({ messages, position, seat, left }) {
  if (messages.length) return /** @type {State} */ (states(messages).at(-1));
  const {
    hand,
    round = "E1",
    honba = 0,
    scores = [35000, 35000, 35000],
    dora = "5z",
    melds = "",
    norths = 0,
  } = position;
  const [wind, kyoku] = round;
  const dealer = Number(kyoku) - 1;
  const tiles = tilesOf(hand);
  const state = initial();
  const seats = state.seats.map((each, index) => {
    const score = scores[(index - dealer + WINDS.length) % WINDS.length];
    if (index !== seat) return { ...each, score, hand: Array(HAND_SIZE).fill("?") };
    const own = { hand: sorted(tiles.slice(0, -1)), drawn: tiles.at(-1) ?? "", norths: Array(norths).fill("N") };
    return { ...each, ...own, score, melds: meldsOf(melds, (seat + 2) % WINDS.length) };
  });
  return {
    ...state,
    phase: "playing",
    viewer: seat,
    round: { wind, kyoku: Number(kyoku), honba, dealer, index: 0, startScores: scores },
    sticks: (105000 - scores.reduce((sum, score) => sum + score, 0)) / 1000,
    doraMarkers: tilesOf(dora),
    tilesLeft: left,
    seats,
    turn: seat,
  };
}

/** @param {string} text @param {number} target @returns {Meld[]} */
function meldsOf(text, target) {
  return [...text.matchAll(/([PMA])(\d+)([mpsz])/g)].map(([, letter, ranks, suit]) => {
    const { type, size } = MELDS[letter];
    const all = tilesOf((ranks.length === 1 ? ranks.repeat(size) : ranks) + suit);
    const [called, ...own] = all;
    if (type === "ankan") return { type, tiles: sorted(all), called: "", target: -1 };
    return { type, tiles: [...sorted(own), called], called, target };
  });
}

export class PositionView {
  #table = /** @type {import("./table.js").NukiTable} */ (document.createElement("nuki-table"));
  #bars = el("div", { class: "row" });
  #bot = 0; // whose bars are on the tiles

  /** @param {Analysis} analysis */
  constructor(analysis) {
    this.analysis = analysis;
    this.state = namedBySide(stateOf(analysis), analysis.seat);
    const { bots, hands, messages, shanten, win, left, position } = analysis;
    this.opinions = bots.map(({ actions }) => ({ best: 0, actual: -1, loss: null, actions }));
    const where = t("pos_where", {
      round: this.state.round ? shortRoundName(this.state.round) : "",
      wind: windName(position.seat ?? "E"),
      left,
      shanten: parts.shantenText(shanten),
    });
    const panels = bots.map(({ bot }, index) => parts.opinionPanel(bot, this.opinions[index]));
    const aside = el(
      "div",
      { class: "review-aside" },
      el("p", { class: "review-place", role: "status" }, where),
      messages.length ? [] : el("p", { class: "muted" }, t("pos_guess")),
      win
        ? el("p", { class: "position-now" }, t("pos_now", { way: way(win) }), " ", scoreText(win), " ", yakuText(win))
        : [],
      bots.length ? el("div", { class: "review-opinions" }, panels) : el("p", { class: "muted" }, t("pos_forced")),
      this.#bars,
    );
    const waiting = hands.filter(({ waits }) => waits.length);
    this.element = el(
      "div",
      { class: "position" },
      el("div", { class: "review-stage" }, this.#table, aside),
      el(
        "section",
        {},
        el("h2", {}, t("pos_hands")),
        el("div", { ...REGION, "aria-label": t("pos_hands") }, this.#handsTable()),
      ),
      waiting.length
        ? el(
            "section",
            {},
            el("h2", {}, t("pos_wins")),
            el("p", { class: "muted" }, t("pos_wins_help")),
            waiting.toSorted(bestFirst).map((hand, index) => winsOf(hand, index === 0)),
          )
        : [],
    );
    this.#weigh(0);
  }

  /** Choose the bot whose bars are shown. @param {number} bot */
  #weigh(bot) {
    this.#bot = bot;
    const { bots, seat } = this.analysis;
    const buttons = bots.map((each, index) =>
      el(
        "button",
        { type: "button", "aria-pressed": String(index === bot), onclick: () => this.#weigh(index) },
        each.bot,
      ),
    );
    this.#bars.replaceChildren(...(bots.length > 1 ? [t("review_bars"), ...buttons] : []));
    const opinion = this.opinions[this.#bot];
    const choices = (opinion?.actions ?? []).map((option) => ({
      action: actionOf(option.action),
      value: option.value ?? 0,
      height: parts.fill(option, opinion),
      text: parts.optionText(option),
    }));
    const marks = marksOf(choices, NO_ACTION, this.state.seats[seat]);
    this.#table.show(this.state, { bottom: seat, open: false, marks });
  }

  #handsTable() {
    const { bots, hands } = this.analysis;
    const head = (/** @type {string} */ text, numeric = true, title = "") =>
      el("th", { scope: "col", class: numeric ? "number" : null, title: title || null }, text);
    const heads = [
      head(t("pos_discard"), false),
      head(t("pos_shanten")),
      head(t("pos_tiles")),
      head(t("pos_danger"), true, t("pos_danger_help")),
      bots.map(({ bot }) => head(bot, true, t("pos_loss", { bot }))),
      head(t("pos_ukeire"), false),
    ];
    const rows = hands.toSorted(bestFirst).map((hand) =>
      el(
        "tr",
        { "data-discard": hand.discard ?? "" },
        el("th", { scope: "row" }, hand.discard ? tile(hand.discard) : t("pos_as_it_is")),
        el("td", { class: "number" }, hand.shanten),
        el("td", { class: "number" }, hand.left),
        el("td", { class: "number" }, hand.discard ? percent(hand.danger) : "–"),
        bots.map(({ actions }) => el("td", { class: "number" }, parts.lossNode(lossOf(actions, hand.discard)))),
        el("td", {}, ukeire(hand)),
      ),
    );
    const table = el(
      "table",
      { class: "list position-hands" },
      el("thead", {}, el("tr", {}, heads.flat())),
      el("tbody", {}, rows),
    );
    table.style.setProperty("--numbers", String(heads.flat().length - 2)); // columns of numbers
    return table;
  }
}

/** The lowest shanten first, then the most tiles. @param {Hand} one @param {Hand} other */
function bestFirst(one, other) {
  return one.shanten - other.shanten || other.left - one.left;
}

/** What a bot loses by a discard; null: it does not say. @param {parts.Option[]} actions @param {string | null} discard */
function lossOf(actions, discard) {
  const found = actions.find(({ action }) => action.type === "dahai" && action.pai === discard);
  return found?.value == null || actions[0].value === null ? null : actions[0].value - found.value;
}

/** The tiles that lower the shanten, and how many of them are left. @param {Hand} hand */
function ukeire(hand) {
  const tiles = Object.entries(hand.ukeire).map(([name, left]) => counted(name, left));
  return el(
    "span",
    { class: "position-ukeire" },
    tiles,
    hand.furiten && el("strong", { class: "warn" }, t("pos_furiten")),
  );
}

/** @param {string} name @param {number} left */
function counted(name, left) {
  const title = t("pos_left_of", { tile: tileName(name), count: left });
  return el("span", { class: left ? "counted" : "counted none", title }, tile(name), `×${Math.min(left, COPIES)}`);
}

/** @param {Win} win */
function way({ tsumo, riichi }) {
  const by = t(tsumo ? "pos_tsumo" : "pos_ron");
  return riichi ? t("pos_riichi", { way: by }) : by;
}

/** @param {Win} win */
function scoreText({ fan, fu, yakuman, points, payments, tsumo }) {
  const value = yakuman ? t("pos_yakuman") : t("pos_han_fu", { han: fan, fu });
  const [first, second] = payments;
  const paid = tsumo
    ? ` (${first === second ? `${t("pos_all", { points: number(first) })}` : `${number(first)}, ${number(second)}`})`
    : "";
  return `${value} · ${number(points)}${paid}`;
}

/** @param {Win} win */
function yakuText({ yakus }) {
  const names = yakus.map(([name, han]) => `${yakuName(name)}${han > 1 && han < HAND_SIZE ? ` ${han}` : ""}`);
  return names.join(language() === "ja" ? "・" : ", ");
}

/** The waits after a discard, with the score of each win. @param {Hand} hand @param {boolean} open */
function winsOf({ discard, waits, furiten }, open) {
  const rows = waits.flatMap((wait) => {
    if (!wait.wins.length) {
      return [
        el(
          "tr",
          {},
          el("th", { scope: "row" }, counted(wait.tile, wait.left)),
          el("td", { colspan: 3 }, t("pos_no_yaku")),
        ),
      ];
    }
    return wait.wins.map((win) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, counted(wait.tile, wait.left)),
        el("td", {}, way(win)),
        el("td", {}, scoreText(win)),
        el("td", {}, yakuText(win)),
      ),
    );
  });
  const heads = ["wait", "way", "score", "yaku"].map((key) => el("th", { scope: "col" }, t(`pos_${key}`)));
  const label = discard ? [t("pos_after"), " ", tile(discard)] : [t("pos_as_it_is")];
  return el(
    "details",
    { class: "position-wins", open },
    el(
      "summary",
      {},
      label,
      " → ",
      waits.map((wait) => counted(wait.tile, wait.left)),
      furiten && el("strong", { class: "warn" }, t("pos_furiten")),
    ),
    el(
      "div",
      { ...REGION, "aria-label": t("pos_wins") },
      el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows)),
    ),
  );
}
