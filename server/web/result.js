/** The result of a round, with its yaku, fu and points explained, and the result of a game. */

import { el } from "./dom.js";
import { number, signed } from "./format.js";
import { fuParts } from "./fu.js";
import { sorted } from "./mjai.js";
import { tile } from "./tile.js";
import { t } from "./words.js";
import "./words_result.js";
import { DRAGONS, YAKU, yakuName } from "./yaku.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */

const YAKUMAN = 8000; // base points
/** @type {[number, string, number][]} han from which on a limit holds, its name, its base points */
const LIMITS = [
  [13, "kazoe", YAKUMAN],
  [11, "sanbaiman", 6000],
  [8, "baiman", 4000],
  [6, "haneman", 3000],
  [5, "mangan", 2000],
];

/**
 * What the last round has come to: all wins or the draw, and the scores.
 * @param {State} state after `hora`, `ryukyoku` or `end_kyoku`
 * @returns {HTMLElement}
 */
export function resultPanel(state) {
  const wins = state.wins.map((win, number) => winPanel(state, win, number === 0));
  const draw = state.draw ? [drawPanel(state, state.draw)] : [];
  return el("section", { class: "result" }, wins, draw, scores(state));
}

/** @param {State} state @param {Message} win @param {boolean} first honba and sticks are the first winner's */
function winPanel(state, win, first) {
  const seat = state.seats[win.actor];
  const names = { winner: seat.name, target: state.seats[win.target].name };
  const title = t(win.actor === win.target ? "result_tsumo" : "result_ron", names);
  return el(
    "article",
    { class: "result-win" },
    el("h2", {}, title),
    el(
      "div",
      { class: "result-hand" },
      row(sorted(win.hora_tehais)),
      el("span", { class: "result-tiles result-last" }, tile(win.pai)),
      seat.melds.map(({ tiles }) => row(tiles)),
      seat.norths.length > 0 && row(seat.norths),
    ),
    indicators(state, win),
    yakuList(win, [...win.hora_tehais, win.pai, ...seat.melds.flatMap(({ tiles }) => tiles)]),
    el("p", { class: "result-total" }, el("span", {}, value(win)), el("strong", {}, points(win.hora_points))),
    details(state, win),
    payments(state, win, first),
  );
}

/** Tiles in a row. @param {string[]} names */
function row(names) {
  return el("span", { class: "result-tiles" }, ...names.map((name) => tile(name)));
}

/** @param {State} state @param {Message} win */
function indicators(state, win) {
  const rows = [
    ["result_dora", state.doraMarkers],
    ["result_ura", win.uradora_markers],
  ];
  return el(
    "div",
    { class: "result-indicators" },
    rows.map(([key, tiles]) => {
      const shown = /** @type {string[]} */ (tiles);
      const label = el("span", {}, t(/** @type {string} */ (key)));
      return shown.length > 0 && el("span", {}, label, row(shown));
    }),
  );
}

/** The yaku with their han. @param {Message} win @param {string[]} tiles all tiles of the hand */
function yakuList(win, tiles) {
  const dragons = Object.keys(DRAGONS).filter((dragon) => tiles.filter((name) => name === dragon).length >= 3);
  const rows = win.yakus.map((/** @type {[string, number]} */ [name, han]) => {
    const dragon = name === "sangenpai" ? dragons.shift() : "";
    const shown = YAKU[name]?.yakuman ? (han > 13 ? `×${han / 13}` : "") : t("result_han", { han });
    return el("li", {}, el("span", {}, yakuName(name, dragon)), el("span", {}, shown));
  });
  return el("ul", { class: "result-yaku" }, rows);
}

/** The number of yakuman. @param {Message} win */
function yakuman(win) {
  const han = win.yakus.filter((/** @type {[string, number]} */ [name]) => YAKU[name]?.yakuman);
  return han.reduce((/** @type {number} */ sum, /** @type {[string, number]} */ [, more]) => sum + more, 0) / 13;
}

/** The limit of a win: its name and its base points. @param {Message} win @returns {[string, number] | null} */
function limit(win) {
  const times = yakuman(win);
  if (times) return [times > 1 ? t("result_yakuman_times", { times }) : t("result_yakuman"), YAKUMAN * times];
  const [, name, basic] = LIMITS.find(([han]) => win.fan >= han) ?? [];
  if (name) return [t(`result_${name}`), /** @type {number} */ (basic)];
  return win.fu * 2 ** (2 + win.fan) >= 2000 ? [t("result_mangan"), 2000] : null;
}

/** Han, fu and limit. @param {Message} win */
function value(win) {
  const name = limit(win)?.[0] ?? "";
  return yakuman(win) ? name : `${t("result_han_fu", { han: win.fan, fu: win.fu })} ${name}`;
}

/** Fu and points explained. @param {State} state @param {Message} win */
function details(state, win) {
  const parts = yakuman(win) ? [] : fuParts(state, win);
  const rows = parts.map(({ why, fu, tile: name }) =>
    el("li", {}, el("span", {}, t(`result_fu_${why}`), " ", name && tile(name)), el("span", {}, fu)),
  );
  const sum = parts.reduce((total, { fu }) => total + fu, 0);
  const [name, basic] = limit(win) ?? ["", win.fu * 2 ** (2 + win.fan)];
  const values = { fu: win.fu, han: win.fan, limit: name, basic: number(basic) };
  return el(
    "details",
    { class: "result-details" },
    el("summary", {}, t("result_fu"), ": ", sum && sum !== win.fu ? t("result_fu_sum", { sum, fu: win.fu }) : win.fu),
    el("ul", {}, rows),
    el("p", {}, t(name ? "result_base_limit" : "result_base_fu", values)),
    el("p", {}, multiplied(state, win)),
    win.actor === win.target && el("p", {}, t("result_tsumo_loss")),
  );
}

/** What base points are multiplied by. @param {State} state @param {Message} win */
function multiplied(state, win) {
  const dealer = win.actor === state.round?.dealer;
  if (win.actor !== win.target) return t("result_ron_pays", { times: dealer ? 6 : 4 });
  return t(dealer ? "result_tsumo_pays" : "result_tsumo_pays_dealer");
}

/** Who pays what. @param {State} state @param {Message} win @param {boolean} first */
function payments(state, win, first) {
  const honba = first ? (state.round?.honba ?? 0) : 0;
  /** @type {number[]} */
  const deltas = win.deltas;
  const paid = deltas.reduce((sum, delta) => sum + Math.max(-delta, 0), 0);
  const sticks = deltas[win.actor] - paid;
  const rows = deltas.flatMap((delta, seat) => {
    if (delta >= 0 || seat === win.actor) return [];
    const extra = honba * honbaShare(win, seat);
    const values = { payer: state.seats[seat].name, points: number(-delta - extra), honba: number(extra) };
    return [el("li", {}, t(extra ? "result_pays_honba" : "result_pays", values))];
  });
  if (sticks > 0) rows.push(el("li", {}, t("result_sticks", { points: number(sticks) })));
  if (win.pao !== undefined && win.pao !== null) {
    rows.push(el("li", {}, t("result_pao", { name: state.seats[win.pao].name })));
  }
  return el("ul", { class: "result-payments" }, rows);
}

/** Points that a seat pays for each honba. @param {Message} win @param {number} seat */
function honbaShare({ actor, target, pao }, seat) {
  if (pao !== undefined && pao !== null) return seat === pao ? 200 : 0;
  return actor === target ? 100 : 200;
}

/** @param {State} state @param {Message} draw */
function drawPanel(state, draw) {
  const shows = ["fanpai", "nagashimangan"].includes(draw.reason);
  const hands = state.seats.map(({ name, hand }, seat) => {
    const tenpai = draw.tenpais?.[seat];
    const isShown = draw.tehais ? !draw.tehais[seat].includes("?") : tenpai;
    const tiles = isShown ? hand : [];
    return el(
      "li",
      {},
      el("span", { class: "result-name" }, name),
      el("span", {}, t(tenpai ? "result_tenpai" : "result_noten")),
      row(tiles),
    );
  });
  return el(
    "article",
    {},
    el("h2", {}, t(`result_${draw.reason}`)),
    shows && el("ul", { class: "result-hands" }, hands),
  );
}

/** The scores, and what the round has changed. @param {State} state */
function scores(state) {
  const messages = [...state.wins, ...(state.draw ? [state.draw] : [])];
  const rows = state.seats.map(({ name, score }, seat) => {
    const delta = messages.reduce((sum, message) => sum + (message.deltas?.[seat] ?? 0), 0);
    return el(
      "tr",
      { class: seat === state.viewer ? "result-own" : null },
      el("th", { scope: "row", class: "result-name" }, name),
      el("td", {}, number(score)),
      el("td", { class: delta > 0 ? "result-up" : delta < 0 ? "result-down" : null }, delta ? signed(delta) : ""),
    );
  });
  return el("table", { class: "result-scores", "aria-label": t("result_scores") }, el("tbody", {}, rows));
}

/**
 * The result of a game: the players by place.
 * @param {State} state after `end_game`
 * @returns {HTMLElement}
 */
export function finalPanel(state) {
  const seats = state.seats.map((seat, index) => ({ ...seat, index }));
  const rows = seats
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .map(({ name, score, index }, place) =>
      el(
        "tr",
        { class: index === state.viewer ? "result-own" : null },
        el("td", {}, t("result_place", { place: place + 1 })),
        el("th", { scope: "row", class: "result-name" }, name),
        el("td", {}, number(score)),
        el("td", {}, state.points ? signed(state.points[index], 1) : ""),
      ),
    );
  const table = el("table", { class: "result-scores" }, el("tbody", {}, rows));
  return el("section", { class: "result" }, el("h2", {}, t("result_over")), table);
}

/** @param {number} value */
function points(value) {
  return t("result_points", { points: number(value) });
}
