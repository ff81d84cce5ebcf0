/** Tenpai: the waits of a hand, how many of them are left, and furiten. */

import { kind } from "./mjai.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./mjai.js").Seat} Seat */
/** @typedef {import("./mjai.js").Message} Message */

const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/** The kinds of tiles that three players have, in the order of a hand. */
export const KINDS = ["1m", "9m", ...NUMBERS.map((n) => `${n}p`), ...NUMBERS.map((n) => `${n}s`), ..."ESWNPFC"];
const INDEX = new Map(KINDS.map((name, index) => [name, index]));
const ORPHANS = KINDS.flatMap((name, index) => (/^([19]|[A-Z])/.test(name) ? [index] : []));
const COPIES = 4;
const FULL_HAND = 14;

/** The number of tiles of each kind. @param {string[]} tiles without `?` @returns {number[]} */
function countsOf(tiles) {
  const counts = new Array(KINDS.length).fill(0);
  for (const tile of tiles) counts[/** @type {number} */ (INDEX.get(kind(tile)))]++;
  return counts;
}

/** Whether a run may begin with a kind. @param {number} index */
export function startsRun(index) {
  return /^[1-7][ps]$/.test(KINDS[index]);
}

/** Whether the tiles from `index` on are sets. @param {number[]} counts @param {number} [index] @returns {boolean} */
function onlySets(counts, index = 0) {
  while (index < counts.length && counts[index] === 0) index++;
  if (index === counts.length) return true;
  return [[index, index, index], startsRun(index) ? [index, index + 1, index + 2] : []].some(
    (set) => set.length > 0 && without(counts, set, () => onlySets(counts, index)),
  );
}

/**
 * What `look` finds while some tiles are taken out of the hand; false where the hand lacks them.
 * @param {number[]} counts @param {number[]} taken @param {() => boolean} look
 */
function without(counts, taken, look) {
  for (const index of taken) counts[index]--;
  const found = taken.every((index) => counts[index] >= 0) && look();
  for (const index of taken) counts[index]++;
  return found;
}

/** Whether 14 tiles, less three for each meld, are complete, with or without a yaku. @param {number[]} counts */
function complete(counts) {
  if (counts.some((count, index) => count >= 2 && without(counts, [index, index], () => onlySets(counts)))) return true;
  if (sum(counts) < FULL_HAND) return false;
  return (
    counts.every((count) => count === 0 || count === 2) || (orphans(counts) === FULL_HAND && kindsOf(counts) === 13)
  );
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The number of terminals and honours. @param {number[]} counts */
function orphans(counts) {
  return sum(ORPHANS.map((index) => counts[index]));
}

/** The number of kinds. @param {number[]} counts */
function kindsOf(counts) {
  return counts.filter((count) => count > 0).length;
}

/**
 * The kinds that complete a hand, with or without a yaku. A kind of which the hand holds four is no wait.
 * @param {string[]} tiles concealed tiles: 13, less three for each meld
 * @returns {string[]} kinds in the order of a hand, none unless it is tenpai
 */
export function waits(tiles) {
  const counts = countsOf(tiles);
  return KINDS.filter((_, index) => {
    if (counts[index] === COPIES) return false;
    counts[index]++;
    const found = complete(counts);
    counts[index]--;
    return found;
  });
}

/** The waits of a seat between its turns. @param {Seat} seat whose hand is not hidden @returns {string[]} */
export function waitsOf(seat) {
  return seat.hand.includes("?") ? [] : waits(seat.hand);
}

/**
 * The waits of a seat after each discard.
 * @param {Seat} seat that is to discard, with a hand that is not hidden
 * @returns {Map<string, string[]>} by the tile to discard, only those that leave the hand tenpai
 */
export function waitsAfterDiscards(seat) {
  const tiles = seat.drawn ? [...seat.hand, seat.drawn] : seat.hand;
  const found = new Map();
  for (const tile of new Set(tiles)) {
    const left = waits(tiles.toSpliced(tiles.indexOf(tile), 1));
    if (left.length) found.set(tile, left);
  }
  return found;
}

/**
 * How many tiles of a kind nobody at the seat can see: in the wall, or in hidden hands.
 * @param {State} state
 * @param {string} wanted a kind
 */
export function unseen(state, wanted) {
  const seen = state.seats.flatMap(({ hand, drawn, melds, discards, norths }) => [
    ...hand,
    drawn,
    ...norths,
    ...melds.flatMap(({ tiles }) => tiles),
    ...discards.filter(({ calledBy }) => calledBy < 0).map(({ tile }) => tile),
  ]);
  const shown = [...seen, ...state.doraMarkers, ...state.uradoraMarkers];
  return COPIES - shown.filter((tile) => kind(tile) === wanted).length;
}

/**
 * @typedef {object} Passed what the viewer has not won on
 * @property {boolean} offered the last message offers a win
 * @property {boolean} temporary until the next own discard
 * @property {boolean} riichi in riichi: until the end of the round
 */

/** @type {Passed} */
export const NOTHING_PASSED = { offered: false, temporary: false, riichi: false };

/**
 * Follow what the viewer does not win on: every other's tile that completes the hand, with or without a yaku.
 * @param {Passed} passed before the message
 * @param {State} state after it
 * @param {Message} message
 * @returns {Passed}
 */
export function followPassed(passed, state, message) {
  const seat = state.seats[state.viewer];
  if (message.type === "start_kyoku" || !seat) return NOTHING_PASSED;
  if (message.type === "dahai" && message.actor === state.viewer) return { ...passed, temporary: false };
  const missed = { offered: false, temporary: true, riichi: passed.riichi || seat.riichi !== "" };
  const before = passed.offered ? missed : passed;
  if (!offersWin(state, message) || !waitsOf(seat).includes(kind(state.offer?.tile ?? ""))) return before;
  const mayWin = message.possible_actions?.some((/** @type {Message} */ action) => action.type === "hora");
  return mayWin ? { ...before, offered: true } : missed;
}

/** Whether a message offers a tile of another seat that may be won on. @param {State} state @param {Message} message */
function offersWin(state, { type, actor }) {
  if (actor === state.viewer) return false;
  if (type !== "ankan") return ["dahai", "kakan", "nukidora"].includes(type);
  return state.rules === "majsoul" && waitsForOrphans(state.seats[state.viewer]);
}

/** Whether a tenpai hand is tenpai for thirteen orphans. @param {Seat} seat */
function waitsForOrphans({ hand }) {
  const counts = countsOf(hand);
  return orphans(counts) === FULL_HAND - 1 && kindsOf(counts) >= 12;
}

/**
 * Why the viewer may not win by ron with these waits.
 * @param {State} state
 * @param {Passed} passed
 * @param {string[]} waiting
 * @returns {"" | "discard" | "temporary" | "riichi"} "": it may
 */
export function furiten(state, passed, waiting) {
  const discarded = state.seats[state.viewer].discards.some(({ tile }) => waiting.includes(kind(tile)));
  if (waiting.length && discarded) return "discard";
  if (!waiting.length || !passed.temporary) return passed.riichi ? "riichi" : "";
  return passed.riichi ? "riichi" : "temporary";
}
