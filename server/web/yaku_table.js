/**
 * All yaku with their han, and what a hand has of them so far. Only what can be counted is told:
 * `has`: the tiles held have it already, or all of them fit; `near`: few are missing; `lost`: the melds, or tiles that
 * are gone, make it impossible; "": nothing can be said.
 */

import { kind } from "./mjai.js";
import { unseen } from "./waits.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {"has" | "near" | "lost" | ""} Progress */

/**
 * @typedef {object} Row
 * @property {string} name as mjai has it (yaku.js)
 * @property {string} tile of a dragon, which have one name, else ""
 * @property {number} closed han of a closed hand; 13: yakuman, 26: double where the rules have it
 * @property {number} open han of an open hand; 0: closed hands only
 * @property {(hand: Hand) => Progress} [rule]
 */

/**
 * @typedef {object} Hand
 * @property {string[]} concealed kinds of the concealed tiles
 * @property {string[][]} melds their kinds
 * @property {number} open melds that are no ankan
 * @property {number} kans
 * @property {(kind: string) => number} held tiles of a kind, in melds or not
 * @property {(kind: string) => number} left tiles of a kind that the seat cannot see
 * @property {string} seatWind
 * @property {string} roundWind
 */

const FEW = 3; // concealed tiles that do not fit yet
const PAIRS = 4; // that make toitoi and seven pairs near
const SETS = 4;
const DRAGONS = [..."PFC"];
const SUITS = [..."ps"];

const isHonour = (/** @type {string} */ name) => name.length === 1;
const isTerminal = (/** @type {string} */ name) => /^[19]/.test(name);
const isOrphan = (/** @type {string} */ name) => isHonour(name) || isTerminal(name);
const isMiddle = (/** @type {string} */ name) => /^[456]/.test(name);

/**
 * A yaku of tiles that all fit.
 * @param {Hand} hand @param {(name: string) => boolean} fits @returns {Progress}
 */
function only({ concealed, melds }, fits) {
  if (!melds.flat().every(fits)) return "lost";
  const others = concealed.filter((name) => !fits(name)).length;
  return others === 0 ? "has" : others <= FEW ? "near" : "";
}

/** The best of some. @param {Progress[]} found @returns {Progress} */
function best(found) {
  return /** @type {const} */ (["has", "near", ""]).find((each) => found.includes(each)) ?? "lost";
}

/** A flush. @param {Hand} hand @param {boolean} honours whether it has some @returns {Progress} */
function flush(hand, honours) {
  const found = best(
    (honours ? ["m", ...SUITS] : SUITS).map((suit) =>
      only(hand, (name) => name[1] === suit || (honours && isHonour(name))),
    ),
  );
  const some = [...hand.concealed, ...hand.melds.flat()].some(isHonour);
  return honours && found === "has" && !some ? "near" : found;
}

/** A triplet. @param {string} name @param {Hand} hand @returns {Progress} */
function triplet(name, { held, left }) {
  if (held(name) >= 3) return "has";
  if (held(name) + left(name) < 3) return "lost";
  return held(name) === 2 ? "near" : "";
}

/** Some triplets at once. @param {string[]} names @param {Hand} hand @returns {Progress} */
function triplets(names, hand) {
  const found = names.map((name) => triplet(name, hand));
  if (found.includes("lost")) return "lost";
  if (found.every((each) => each === "has")) return "has";
  return found.includes("") ? "" : "near";
}

/** Kinds of which a hand conceals so many. @param {Hand} hand @param {number} count */
function concealedOf({ concealed }, count) {
  return [...new Set(concealed)].filter((name) => concealed.filter((each) => each === name).length >= count).length;
}

/** @type {(hand: Hand) => Progress} */
function toitoi(hand) {
  if (hand.melds.length + concealedOf(hand, 3) >= SETS) return "has";
  return hand.melds.length + concealedOf(hand, 2) >= PAIRS ? "near" : "";
}

/** @type {(hand: Hand) => Progress} */
function sevenPairs(hand) {
  if (hand.melds.length) return "lost";
  const pairs = concealedOf(hand, 2);
  return pairs === 7 ? "has" : pairs >= PAIRS ? "near" : "";
}

/** So many concealed triplets. @param {number} wanted @returns {(hand: Hand) => Progress} */
function concealedTriplets(wanted) {
  return (hand) => {
    if (hand.open > SETS - wanted) return "lost";
    const found = concealedOf(hand, 3) + hand.melds.length - hand.open;
    return found >= wanted ? "has" : found === wanted - 1 ? "near" : "";
  };
}

/** So many kans. @param {number} wanted @returns {(hand: Hand) => Progress} */
function kans(wanted) {
  return ({ kans: found }) => (found >= wanted ? "has" : found === wanted - 1 ? "near" : "");
}

/** Terminals, or honours too, in every set: never sure before the hand is complete. @param {boolean} honours */
function ends(honours) {
  return (/** @type {Hand} */ { concealed, melds }) => {
    const set = honours ? isOrphan : isTerminal;
    if (!melds.flat().every(set)) return /** @type {const} */ ("lost");
    const others = concealed.filter((name) => isMiddle(name) || (!honours && isHonour(name)));
    return others.length <= 1 ? "near" : "";
  };
}

/** @type {(hand: Hand) => Progress} */
function orphans({ concealed, melds }) {
  if (melds.length) return "lost";
  return new Set(concealed.filter(isOrphan)).size >= 10 ? "near" : "";
}

/** @type {(hand: Hand) => Progress} */
function withoutMelds({ melds }) {
  return melds.length ? "lost" : "";
}

/** @type {(hand: Hand) => Progress} */
function straight({ concealed, melds }) {
  if (melds.length > 1) return "lost";
  return SUITS.some((suit) => new Set(concealed.filter((name) => name[1] === suit)).size >= 7) ? "near" : "";
}

/** @type {Row[]} */
const ROWS = [
  row("reach", 1, 0),
  row("menzenchin_tsumoho", 1, 0),
  row("ippatsu", 1, 0),
  row("tanyaochu", 1, 1, (hand) => only(hand, (name) => !isOrphan(name))),
  ...DRAGONS.map((tile) => ({ ...row("sangenpai", 1, 1, (hand) => triplet(tile, hand)), tile })),
  row("jikaze", 1, 1, (hand) => triplet(hand.seatWind, hand)),
  row("bakaze", 1, 1, (hand) => triplet(hand.roundWind, hand)),
  row("pinfu", 1, 0, withoutMelds),
  row("ipeko", 1, 0),
  row("rinshankaiho", 1, 1),
  row("chankan", 1, 1),
  row("haiteiraoyue", 1, 1),
  row("hoteiraoyui", 1, 1),
  row("double_reach", 2, 0),
  row("chitoitsu", 2, 0, sevenPairs),
  row("toitoiho", 2, 2, toitoi),
  row("sananko", 2, 2, concealedTriplets(3)),
  row("sankantsu", 2, 2, kans(3)),
  row("honroto", 2, 2, (hand) => only(hand, isOrphan)),
  row("shosangen", 2, 2),
  row("sanshokudoko", 2, 2, (hand) => best([..."19"].map((n) => triplets([`${n}m`, `${n}p`, `${n}s`], hand)))),
  row("honchantaiyao", 2, 1, ends(true)),
  row("ikkitsukan", 2, 1, straight),
  row("junchantaiyao", 3, 2, ends(false)),
  row("honiso", 3, 2, (hand) => flush(hand, true)),
  row("ryanpeko", 3, 0, withoutMelds),
  row("chiniso", 6, 5, (hand) => flush(hand, false)),
  row("kokushimuso", 13, 0, orphans),
  row("suanko", 13, 0, concealedTriplets(4)),
  row("daisangen", 13, 13, (hand) => triplets(DRAGONS, hand)),
  row("tsuiso", 13, 13, (hand) => only(hand, isHonour)),
  row("ryuiso", 13, 13, (hand) => only(hand, (name) => /^([23468]s|F)$/.test(name))),
  row("chinroto", 13, 13, (hand) => only(hand, isTerminal)),
  row("shosushi", 13, 13),
  row("sukantsu", 13, 13, kans(4)),
  row("churenpoton", 13, 0, withoutMelds),
  row("tenho", 13, 0),
  row("chiho", 13, 0),
  row("kokushimuso_13", 26, 0, orphans),
  row("suanko_tanki", 26, 0, concealedTriplets(4)),
  row("daisushi", 26, 26, (hand) => triplets([..."ESWN"], hand)),
  row("churenpoton_9", 26, 0, withoutMelds),
];

/** @param {string} name @param {number} closed @param {number} open @param {(hand: Hand) => Progress} [rule] @returns {Row} */
function row(name, closed, open, rule) {
  return { name, tile: "", closed, open, rule };
}

/** What the viewer holds. @param {State} state @returns {Hand} */
function handOf(state) {
  const { hand, drawn, melds } = state.seats[state.viewer];
  const concealed = [...hand, ...(drawn ? [drawn] : [])].map(kind);
  const sets = melds.map(({ tiles }) => tiles.map(kind));
  const { dealer = 0, wind = "E" } = state.round ?? {};
  return {
    concealed,
    melds: sets,
    open: melds.filter(({ type }) => type !== "ankan").length,
    kans: melds.filter(({ type }) => type !== "pon").length,
    held: (name) => [...concealed, ...sets.flat()].filter((each) => each === name).length,
    left: (name) => unseen(state, name),
    seatWind: "ESW"[(state.viewer - dealer + 3) % 3],
    roundWind: wind,
  };
}

/**
 * All yaku of a game's rules, with what the viewer's hand has of them.
 * @param {State} state in which the viewer plays
 * @returns {(Row & {progress: Progress})[]} in the order of their han
 */
export function yakuOf(state) {
  const hand = handOf(state);
  const double = state.rules === "majsoul";
  const han = (/** @type {number} */ value) => (double ? value : Math.min(value, 13));
  return ROWS.map((each) => {
    const progress = hand.open && !each.open ? "lost" : (each.rule?.(hand) ?? "");
    return { ...each, closed: han(each.closed), open: han(each.open), progress };
  });
}
