/** The words of the table: of its plate, its summary and of what happens on it. */

import { tileName } from "./tile.js";
import { addWords, t } from "./words.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./mjai.js").Round} Round */
/** @typedef {import("./mjai.js").Message} Message */

addWords({
  en: {
    table_E: "E",
    table_S: "S",
    table_W: "W",
    table_round: "{wind} {kyoku}",
    table_round_short: "{wind}{kyoku}-{honba}",
    table_wind_E: "East",
    table_wind_S: "South",
    table_wind_W: "West",
    table_left: "{n} left",
    table_honba: "Honba",
    table_sticks: "Riichi sticks",
    table_dora: "Dora indicators",
    table_ura: "Ura dora indicators",
    table_hand: "Hand of {name}",
    table_river: "Discards of {name}",
    table_melds: "Melds of {name}",
    table_norths: "Norths of {name}",
    table_summary: "{round}, honba {honba}, riichi sticks {sticks}, {left} draws left, dora indicators {dora}.",
    table_seat: "{wind} {name}: {score}",
    table_seat_riichi: "{seat}, riichi",
    table_side_bottom: "You",
    table_side_right: "Right",
    table_side_left: "Left",
    table_call_reach: "Riichi",
    table_call_pon: "Pon",
    table_call_daiminkan: "Kan",
    table_call_kakan: "Kan",
    table_call_ankan: "Kan",
    table_call_nukidora: "Nukidora",
    table_call_ron: "Ron",
    table_call_tsumo: "Tsumo",
    table_event_start_kyoku: "{round} begins",
    table_event_start_honba: "{round} begins, honba {honba}",
    table_event_tsumo: "{name} draws",
    table_event_drawn: "{name} draws {tile}",
    table_event_dahai: "{name} discards {tile}",
    table_event_reach: "{name} declares riichi",
    table_event_pon: "{name} calls pon of {tile}",
    table_event_daiminkan: "{name} calls kan of {tile}",
    table_event_kakan: "{name} adds {tile} to a pon",
    table_event_ankan: "{name} shows a closed kan of {tile}",
    table_event_nukidora: "{name} sets a North aside",
    table_event_dora: "new dora indicator {tile}",
    table_event_ron: "{name} wins from {from} with {tile}",
    table_event_hora_tsumo: "{name} wins by tsumo with {tile}",
    table_event_ryukyoku: "Draw",
    table_event_end_game: "The game is over",
  },
  ja: {
    table_E: "東",
    table_S: "南",
    table_W: "西",
    table_round: "{wind}{kyoku}局",
    table_round_short: "{wind}{kyoku}局{honba}本場",
    table_wind_E: "東",
    table_wind_S: "南",
    table_wind_W: "西",
    table_left: "残り{n}",
    table_honba: "本場",
    table_sticks: "供託",
    table_dora: "ドラ表示牌",
    table_ura: "裏ドラ表示牌",
    table_hand: "{name}の手牌",
    table_river: "{name}の捨て牌",
    table_melds: "{name}の副露",
    table_norths: "{name}の北抜き",
    table_summary: "{round} {honba}本場、供託{sticks}、残り{left}枚、ドラ表示牌 {dora}。",
    table_seat: "{wind}家 {name} {score}点",
    table_seat_riichi: "{seat}（リーチ）",
    table_side_bottom: "自分",
    table_side_right: "下家",
    table_side_left: "上家",
    table_call_reach: "リーチ",
    table_call_pon: "ポン",
    table_call_daiminkan: "カン",
    table_call_kakan: "カン",
    table_call_ankan: "カン",
    table_call_nukidora: "北",
    table_call_ron: "ロン",
    table_call_tsumo: "ツモ",
    table_event_start_kyoku: "{round}開始",
    table_event_start_honba: "{round} {honba}本場開始",
    table_event_tsumo: "{name}がツモ",
    table_event_drawn: "{name}が{tile}をツモ",
    table_event_dahai: "{name}が{tile}を切る",
    table_event_reach: "{name}がリーチ",
    table_event_pon: "{name}が{tile}をポン",
    table_event_daiminkan: "{name}が{tile}を大明槓",
    table_event_kakan: "{name}が{tile}を加槓",
    table_event_ankan: "{name}が{tile}を暗槓",
    table_event_nukidora: "{name}が北抜き",
    table_event_dora: "新ドラ表示牌 {tile}",
    table_event_ron: "{name}が{from}から{tile}でロン",
    table_event_hora_tsumo: "{name}が{tile}でツモ和了",
    table_event_ryukyoku: "流局",
    table_event_end_game: "対局終了",
  },
});

const WINDS = ["E", "S", "W"];
export const SIDES = ["bottom", "right", "left"]; // of the bottom seat and those after it

/** The side of a seat, as an index of SIDES. @param {number} seat @param {number} bottom */
export function sideOf(seat, bottom) {
  return (seat - bottom + SIDES.length) % SIDES.length;
}

/** `East` or `東`. @param {string} wind */
export function windName(wind) {
  return t(`table_wind_${wind}`);
}

/** `East 1` or `東1局`. @param {{wind: string, kyoku: string | number}} round */
export function roundName({ wind, kyoku }) {
  return t("table_round", { wind: t(`table_wind_${wind}`), kyoku });
}

/** `E1-0` or `東1局0本場`. @param {Pick<Round, "wind" | "kyoku" | "honba">} round */
export function shortRoundName({ wind, kyoku, honba }) {
  return t("table_round_short", { wind: t(`table_${wind}`), kyoku, honba });
}

/** The wind of a seat in this round, as one letter or character; "" before the first one. @param {State} state @param {number} seat */
export function seatWind({ round, seats }, seat) {
  return round ? t(`table_${WINDS[(seat - round.dealer + seats.length) % seats.length]}`) : "";
}

/**
 * A state whose players are not known: each is called by the side where it sits.
 * @param {State} state
 * @param {number} bottom
 * @returns {State}
 */
export function namedBySide(state, bottom) {
  const named = state.seats.map((each, seat) => ({ ...each, name: t(`table_side_${SIDES[sideOf(seat, bottom)]}`) }));
  return { ...state, seats: named };
}

/** The whole table in words. @param {State} state @returns {string} */
export function summary(state) {
  const { round, sticks, tilesLeft, doraMarkers, seats } = state;
  if (!round) return "";
  const players = seats.map(({ name, score, riichi }, index) => {
    const seat = t("table_seat", { wind: seatWind(state, index), name, score });
    return riichi ? t("table_seat_riichi", { seat }) : seat;
  });
  const dora = doraMarkers.map(tileName).join(", ");
  const head = t("table_summary", { round: roundName(round), honba: round.honba, sticks, left: tilesLeft, dora });
  return `${head} ${players.join("; ")}`;
}

/**
 * The last message in words; "" for those that are not worth any.
 * @param {State} state
 * @param {boolean} drawnShown whether the tile of a draw may be named
 * @returns {string}
 */
export function lastEvent(state, drawnShown) {
  const { last, round, seats, viewer } = state;
  if (!last || !(last.type in EVENTS) || !round) return "";
  const own = t("table_side_bottom");
  const name = last.actor === viewer ? own : (seats[last.actor]?.name ?? "");
  const pai = last.pai ?? last.dora_marker ?? last.consumed?.[0];
  const text = t(`table_event_${EVENTS[last.type](last, drawnShown)}`, {
    round: roundName(round),
    honba: round.honba,
    name,
    from: last.target === viewer ? own.toLowerCase() : (seats[last.target]?.name ?? ""),
    tile: pai ? tileName(pai) : "",
  });
  return name === own ? text.replace(/^(\w+ \w+)s\b/, "$1") : text; // You draw; verbs of Japanese are the same
}

/** Message type -> its key of the words. @type {Record<string, (message: Message, drawnShown: boolean) => string>} */
const EVENTS = {
  tsumo: ({ pai }, drawnShown) => (drawnShown && pai !== "?" ? "drawn" : "tsumo"),
  start_kyoku: ({ honba }) => (honba ? "start_honba" : "start_kyoku"),
  hora: ({ actor, target }) => (actor === target ? "hora_tsumo" : "ron"),
  ...Object.fromEntries(
    ["dahai", "reach", "pon", "daiminkan", "kakan", "ankan", "nukidora", "dora", "ryukyoku", "end_game"].map((type) => [
      type,
      () => type,
    ]),
  ),
};

const CALLS = new Set(["reach", "pon", "daiminkan", "kakan", "ankan", "nukidora", "hora"]);

/** What the actor of the last message has just called out, "" for nothing. @param {State} state @returns {string} */
export function call({ last }) {
  if (!last || !CALLS.has(last.type)) return "";
  if (last.type !== "hora") return t(`table_call_${last.type}`);
  return t(last.actor === last.target ? "table_call_tsumo" : "table_call_ron");
}
