/** What a bot said of its move (`ext_bot` of a record): any object, in which the shapes that bots use are recognised. */

import { percent } from "./format.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").Seat} Seat */
/** @typedef {import("./table.js").Mark} Mark */

/** @typedef {{type: string, tile: string}} Action type of an mjai reply; the tile of a discard, else "" */

/**
 * @typedef {object} Choice an action that the bot has weighed
 * @property {Action} action
 * @property {number} value
 * @property {number} height of its bar, 0 to 1: a probability, else its place between the lowest and the highest value
 * @property {string} text the value, as it is shown
 */

/**
 * @typedef {object} Note
 * @property {Choice[]} choices the highest first; empty if no known shape was found
 * @property {[string, string][]} facts everything else, keys and values
 */

/** @typedef {{values: [Action, number][], used: string[]}} Found the values, and the keys that hold them */

const TILE = /^(?:[1-9][mps]|5[mps]r|[ESWNPFC])$/;
/** Actions without a tile, by the names that bots give them. @type {Record<string, string>} */
const ACTIONS = {
  reach: "reach",
  riichi: "reach",
  pon: "pon",
  kan: "kan",
  kan_select: "kan",
  daiminkan: "daiminkan",
  ankan: "ankan",
  kakan: "kakan",
  nukidora: "nukidora",
  kita: "nukidora",
  hora: "hora",
  tsumo: "hora",
  ron: "hora",
  ryukyoku: "ryukyoku",
  none: "none",
  pass: "none",
};
const SUIT = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/** The actions of Mortal for three players (libriichi3p), in the order of `mask_bits`. */
const MORTAL = [
  ...["m", "p", "s"].flatMap((suit) => SUIT.map((number) => number + suit)),
  "E",
  "S",
  "W",
  "N",
  "P",
  "F",
  "C",
  "5mr",
  "5pr",
  "5sr",
  "reach",
  "pon",
  "kan",
  "nukidora",
  "hora",
  "ryukyoku",
  "none",
];
const NAMES = ["token", "action", "pai", "tile", "name"];
const NUMBERS = ["prob", "probability", "p", "value", "q_value", "q", "score"];
const CHOSEN = ["token", "prob"]; // the best candidate again
const LONGEST = 200; // characters of a fact that are shown

/** The shapes that are recognised, the first that fits is taken. @type {((note: Record<string, any>) => Found | null)[]} */
const SHAPES = [plan, listed, mortal, named];

/**
 * Read an annotation.
 * @param {unknown} annotation any JSON
 * @returns {Note}
 */
export function readNote(annotation) {
  const note = isObject(annotation) ? annotation : { ext_bot: annotation };
  const found = SHAPES.reduce((before, shape) => before ?? shape(note), /** @type {Found | null} */ (null));
  const used = new Set(found?.used);
  const rest = Object.entries(note).filter(([key]) => !used.has(key));
  return { choices: choices(found?.values ?? []), facts: rest.map(([key, value]) => [key, fact(value)]) };
}

/**
 * The action of a message, as bots name it.
 * @param {Message} message
 * @returns {Action}
 */
export function actionOf({ type, pai }) {
  return { type, tile: type === "dahai" ? pai : "" };
}

/** Whether an action is the one played; `kan` stands for each of the kans. @param {Action} action @param {Action} played */
export function isSame(action, played) {
  return (
    action.tile === played.tile && (action.type === played.type || (action.type === "kan" && /kan$/.test(played.type)))
  );
}

/**
 * Bars for the tiles of a seat's hand.
 * @param {Choice[]} choices
 * @param {Action} played
 * @param {Seat} seat
 * @returns {Record<string, Mark>}
 */
export function marksOf(choices, played, seat) {
  const marks = choices.flatMap(({ action, height, text }, index) => {
    if (action.type !== "dahai") return [];
    const role = index === 0 ? "best" : isSame(action, played) ? "played" : "";
    const mark = /** @type {Mark} */ ({ value: height, text, role });
    return [[action.tile, mark], ...(action.tile === seat.drawn ? [["drawn", mark]] : [])];
  });
  return Object.fromEntries(marks);
}

/** The bot yaku: its costs are of hand types, some with the name of an action, so no values. @param {Record<string, any>} note */
function plan(note) {
  return typeof note.goes_for === "string" && isObject(note.costs) ? { values: [], used: [] } : null;
}

/** A list of objects with a name and a number: `candidate` of wahaha and bert, `actions` of a review. @param {Record<string, any>} note */
function listed(note) {
  for (const [key, list] of Object.entries(note)) {
    if (!Array.isArray(list) || !list.length || !list.every(isObject)) continue;
    const number = NUMBERS.find((name) => list.every((entry) => Number.isFinite(entry[name])));
    const name = NAMES.find((each) => list.every((entry) => actionNamed(entry[each])));
    if (!number || !name) continue;
    const values = list.map((entry) => pair(/** @type {Action} */ (actionNamed(entry[name])), entry[number]));
    return { values, used: [key, ...CHOSEN] };
  }
  return null;
}

/** Mortal's metadata: values of the legal actions, and a bit for each legal one. @param {Record<string, any>} note */
function mortal(note) {
  const key = isObject(note.meta) ? "meta" : "";
  const { q_values: values, mask_bits: bits } = key ? note.meta : note;
  if (!Array.isArray(values) || !values.every(Number.isFinite) || !Number.isSafeInteger(bits) || bits < 0) return null;
  const legal = MORTAL.filter((_, index) => Math.floor(bits / 2 ** index) % 2);
  if (legal.length !== values.length) return null;
  const found = legal.map((name, index) => pair(/** @type {Action} */ (actionNamed(name)), values[index]));
  return { values: found, used: key ? [key] : ["q_values", "mask_bits"] };
}

/** An object whose keys are actions: `{"5p": 0.8, "reach": 0.2}`, or the same under one of the keys. @param {Record<string, any>} note */
function named(note) {
  for (const [key, values] of /** @type {[string, any][]} */ ([["", note], ...Object.entries(note)])) {
    if (!isObject(values)) continue;
    const entries = Object.entries(values);
    if (!entries.length || !entries.every(([name, value]) => actionNamed(name) && Number.isFinite(value))) continue;
    const found = entries.map(([name, value]) => pair(/** @type {Action} */ (actionNamed(name)), value));
    return { values: found, used: key ? [key] : Object.keys(note) };
  }
  return null;
}

/** @param {Action} action @param {number} value @returns {[Action, number]} */
function pair(action, value) {
  return [action, value];
}

/**
 * The action of a name such as `dahai 5p`, `5p` or `riichi`, or of an mjai reply; null if it is none.
 * @param {unknown} name
 * @returns {Action | null}
 */
function actionNamed(name) {
  if (isObject(name)) return actionNamed(name.type === "dahai" ? name.pai : name.type);
  if (typeof name !== "string") return null;
  const tile = name.replace(/^(?:dahai|discard) /, "");
  if (TILE.test(tile)) return { type: "dahai", tile };
  return Object.hasOwn(ACTIONS, name) ? { type: ACTIONS[name], tile: "" } : null;
}

/** @param {[Action, number][]} values @returns {Choice[]} */
function choices(values) {
  const numbers = values.map(([, value]) => value);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const probabilities = low >= 0 && high <= 1;
  const height = (/** @type {number} */ value) => {
    if (probabilities) return value;
    return high > low ? (value - low) / (high - low) : 1;
  };
  const text = (/** @type {number} */ value) => (probabilities ? percent(value) : value.toFixed(3));
  const sorted = values.toSorted(([, one], [, other]) => other - one);
  return sorted.map(([action, value]) => ({ action, value, height: height(value), text: text(value) }));
}

/** @param {unknown} value @returns {string} */
function fact(value) {
  const text = typeof value === "string" ? value : isTable(value) ? pairs(value) : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Whether it is an object that holds numbers alone. @param {unknown} value @returns {value is Record<string, number>} */
function isTable(value) {
  return isObject(value) && Object.values(value).every(Number.isFinite);
}

/** @param {Record<string, number>} table @returns {string} */
function pairs(table) {
  return Object.entries(table)
    .map(([key, number]) => `${key} ${number}`)
    .join(", ");
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
