/**
 * How safe a discard is against opponents in riichi, by the rules that every player knows. They look at two-sided waits
 * only, as players do: a tile called suji may still be a closed, edge, pair or single wait.
 */

import { kind } from "./mjai.js";
import { unseen } from "./waits.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./mjai.js").Message} Message */

/** @typedef {"genbutsu" | "gone" | "single" | "no_chance" | "suji" | "live" | "open"} Reason */

/** How dangerous each is: 0 is safe. @type {Record<Reason, number>} */
export const LEVELS = {
  genbutsu: 0, // discarded by the opponent, or by others since its riichi
  gone: 1, // an honour, 1m or 9m of which the others hold none: at most thirteen orphans wait for it
  single: 1, // one of them is left: at most a single wait
  no_chance: 1, // all four of a tile are seen without which no two-sided wait is possible
  suji: 2, // no two-sided wait is possible, since the opponent could not win by ron with it
  live: 2, // an honour, 1m or 9m of which two or three are left
  open: 3, // a two-sided wait is possible
};
/** @type {Reason[]} by how many are left of an honour, 1m or 9m */
const FEW_LEFT = ["gone", "single"];
const MOST = 3;
const OFFERS = ["dahai", "kakan", "nukidora"]; // what another seat could have won on

/** The kinds that each seat could have won on since its riichi. @typedef {readonly (readonly string[])[]} Passed */

/** @type {Passed} */
export const NONE_PASSED = [[], [], []];

/**
 * Follow what passes.
 * @param {Passed} passed before the message
 * @param {State} state after it
 * @param {Message} message
 * @returns {Passed}
 */
export function followRiichi(passed, state, { type, actor, pai }) {
  if (type === "start_kyoku") return NONE_PASSED;
  if (!OFFERS.includes(type)) return passed;
  return passed.map((kinds, seat) => (seat !== actor && state.seats[seat].riichi ? [...kinds, kind(pai)] : kinds));
}

/** The opponents in riichi. @param {State} state */
function inRiichi({ seats, viewer }) {
  return seats.flatMap(({ riichi }, seat) => (riichi && seat !== viewer ? [seat] : []));
}

/**
 * Why a tile of the viewer is safe or not against an opponent in riichi.
 * @param {State} state
 * @param {Passed} passed
 * @param {number} against
 * @param {string} tile
 * @returns {Reason}
 */
export function reasonOf(state, passed, against, tile) {
  const name = kind(tile);
  const safe = new Set([...state.seats[against].discards.map((discard) => kind(discard.tile)), ...passed[against]]);
  if (safe.has(name)) return "genbutsu";
  if (!/^[1-9][ps]$/.test(name)) return FEW_LEFT[unseen(state, name)] ?? "live";
  const number = Number(name[0]);
  const at = (/** @type {number} */ distance) => `${number + distance}${name[1]}`;
  const sides = [1, -1].filter((side) => number + 3 * side >= 1 && number + 3 * side <= 9);
  const walled = sides.map((side) => unseen(state, at(side)) === 0 || unseen(state, at(2 * side)) === 0);
  if (walled.every(Boolean)) return "no_chance";
  return sides.every((side, index) => walled[index] || safe.has(at(3 * side))) ? "suji" : "open";
}

/**
 * Bars for the own tiles: the higher, the more dangerous, against the opponent to whom each is the most dangerous.
 * @param {State} state
 * @param {Passed} passed
 * @param {(reason: Reason, name: string) => string} say in words; the name is that of an opponent
 * @returns {Record<string, import("./table.js").Mark>} empty where nobody is in riichi
 */
export function dangerMarks(state, passed, say) {
  const opponents = inRiichi(state);
  const { hand, drawn } = state.seats[state.viewer];
  if (!opponents.length) return {};
  const tiles = new Set([...hand, ...(drawn ? [drawn] : [])]);
  const marks = [...tiles].map((tile) => {
    const reasons = opponents.map((seat) => reasonOf(state, passed, seat, tile));
    const level = Math.max(...reasons.map((reason) => LEVELS[reason]));
    const text = reasons.map((reason, index) => say(reason, state.seats[opponents[index]].name)).join("; ");
    return [tile, { value: (level + 1) / (MOST + 1), text, role: /** @type {const} */ (`danger-${level}`) }];
  });
  const found = Object.fromEntries(marks);
  return drawn ? { ...found, drawn: found[drawn] } : found;
}
