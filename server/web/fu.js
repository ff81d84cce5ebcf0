/** What the fu of a win are made of. */

import { kind } from "./mjai.js";
import { KINDS, startsRun } from "./waits.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./mjai.js").Meld} Meld */

/**
 * @typedef {object} Part
 * @property {"base" | "seven_pairs" | "concealed_ron" | "tsumo" | "triplet" | "kan" | "pair" | "wait" | "open_pinfu"} why
 * @property {string} tile of a triplet, kan or pair, else ""
 * @property {number} fu
 */

/** @typedef {{kind: string, type: "run" | "triplet" | "pair"}} Group a group of concealed tiles, by its lowest kind */

const WINDS = ["E", "S", "W"];
const DRAGONS = ["P", "F", "C"];
const BASE = 20;

/**
 * The parts of the fu of a win, before they are rounded up to tens.
 * @param {State} state after the win
 * @param {Message} win a `hora`
 * @returns {Part[]} [] where no reading of the hand has these fu (a yakuman has none that count)
 */
export function fuParts(state, win) {
  const has = (/** @type {string} */ yaku) => win.yakus.some((/** @type {[string, number]} */ [name]) => name === yaku);
  if (has("chitoitsu")) return [part("seven_pairs", 25)];
  const { melds } = state.seats[win.actor];
  const winning = kind(win.pai);
  const tiles = [...win.hora_tehais, win.pai].map(kind);
  for (const groups of readings(tiles)) {
    for (const last of groups.filter((group) => tilesOf(group).includes(winning))) {
      const parts = has("pinfu") ? pinfuParts(win) : partsOf(state, win, melds, groups, last);
      if (rounded(parts) === win.fu) return parts;
    }
  }
  return [];
}

/** The fu of some parts, rounded up to tens, except seven pairs. @param {Part[]} parts */
function rounded(parts) {
  const sum = parts.reduce((total, { fu }) => total + fu, 0);
  return sum === 25 ? 25 : Math.ceil(sum / 10) * 10;
}

/** @param {Part["why"]} why @param {number} fu @param {string} [tile] @returns {Part} */
function part(why, fu, tile = "") {
  return { why, fu, tile };
}

/** @param {Message} win */
function pinfuParts({ actor, target }) {
  return actor === target ? [part("base", BASE)] : [part("base", BASE), part("concealed_ron", 10)];
}

/**
 * The parts of one reading of the hand.
 * @param {State} state
 * @param {Message} win
 * @param {Meld[]} melds
 * @param {Group[]} groups
 * @param {Group} last the group that the winning tile completes
 */
function partsOf(state, win, melds, groups, last) {
  const tsumo = win.actor === win.target;
  const concealed = melds.every(({ type }) => type === "ankan");
  const parts = [
    part("base", BASE),
    part("concealed_ron", concealed && !tsumo ? 10 : 0),
    part("tsumo", tsumo ? 2 : 0),
    ...melds.map((meld) => meldPart(meld)),
    ...groups.filter(({ type }) => type === "triplet").map((group) => tripletPart(group, group === last && !tsumo)),
    ...groups.filter(({ type }) => type === "pair").map((group) => pairPart(state, win.actor, group)),
    part("wait", isClosedWait(last, kind(win.pai)) ? 2 : 0),
  ].filter(({ fu }) => fu > 0);
  return parts.length === 1 && !concealed ? [...parts, part("open_pinfu", 10)] : parts;
}

/** @param {string} tile @returns {1 | 2} terminals and honours count twice */
function weight(tile) {
  return /^[19]|^[A-Z]/.test(tile) ? 2 : 1;
}

/** @param {Meld} meld */
function meldPart({ type, tiles }) {
  const tile = kind(tiles[0]);
  const fu = { pon: 2, kakan: 8, daiminkan: 8, ankan: 16 }[type] * weight(tile);
  return part(type === "pon" ? "triplet" : "kan", fu, tile);
}

/** @param {Group} group @param {boolean} byRon its last tile was another's */
function tripletPart({ kind: tile }, byRon) {
  return part("triplet", (byRon ? 2 : 4) * weight(tile), tile);
}

/** @param {State} state @param {number} seat @param {Group} group */
function pairPart({ round }, seat, { kind: tile }) {
  const own = WINDS[(seat - (round?.dealer ?? 0) + 3) % 3];
  const values = [DRAGONS.includes(tile), tile === own, tile === round?.wind];
  return part("pair", 2 * values.filter(Boolean).length, tile);
}

/** Whether a group waited for this kind alone. @param {Group} group @param {string} winning */
function isClosedWait(group, winning) {
  if (group.type === "pair") return true;
  if (group.type === "triplet") return false;
  const [first, middle, third] = tilesOf(group);
  return winning === middle || (winning === third && first[0] === "1") || (winning === first && third[0] === "9");
}

/** @param {Group} group */
function tilesOf({ kind: first, type }) {
  const index = KINDS.indexOf(first);
  return type === "run" ? KINDS.slice(index, index + 3) : [first];
}

/** All ways to split tiles into a pair and sets. @param {string[]} tiles kinds @returns {Group[][]} */
function readings(tiles) {
  const counts = KINDS.map((wanted) => tiles.filter((tile) => tile === wanted).length);
  return split(counts, 0, false);
}

/** @param {number[]} counts @param {number} from @param {boolean} paired @returns {Group[][]} */
function split(counts, from, paired) {
  const index = counts.findIndex((count, at) => at >= from && count > 0);
  if (index < 0) return paired ? [[]] : [];
  /** @type {[Group["type"], number[]][]} */
  const ways = [["triplet", [index, index, index]]];
  if (!paired) ways.push(["pair", [index, index]]);
  if (startsRun(index)) ways.push(["run", [index, index + 1, index + 2]]);
  return ways.flatMap(([type, taken]) => {
    const left = [...counts];
    for (const at of taken) left[at]--;
    if (left.some((count) => count < 0)) return [];
    const rest = split(left, index, paired || type === "pair");
    return rest.map((groups) => [{ kind: KINDS[index], type }, ...groups]);
  });
}
