/** The settings of rooms (RoomSettings in server/settings.py): which there are, and what they are called. */

import { number } from "./format.js";
import { t } from "./words.js";
import "./words_rooms.js";

export const RULES = ["tenhou", "majsoul"];
export const LENGTHS = ["east", "hanchan"];

/** What a room for one sitting may set: `SITTING` of server/rooms.py. */
export const SITTING = [
  "rules",
  "length",
  "scores",
  "rated",
  "hints",
  "fill",
  "fill_delay",
  "decision_time",
  "bank_time",
  "pause",
  "resume_timeout",
];

/** @typedef {"choice" | "count" | "seconds" | "points" | "seed" | "flag" | "bot" | "bots" | "scores"} Kind */

/**
 * @typedef {object} Field
 * @property {string} name its key; `setting_NAME` are its words, `setting_NAME_hint` more of them
 * @property {Kind} kind
 * @property {string[]} [choices] of a `choice`; `choice_NAME` are their words
 * @property {boolean} [unlimited] 0 means no limit
 */

/** All settings in groups; `group_NAME` are the words of a group. @type {Record<string, Field[]>} */
export const GROUPS = {
  game: [
    { name: "rules", kind: "choice", choices: RULES },
    { name: "length", kind: "choice", choices: LENGTHS },
    { name: "games", kind: "count", unlimited: true },
    { name: "scores", kind: "scores" },
    { name: "rated", kind: "flag" },
    { name: "hints", kind: "flag" },
    { name: "seats", kind: "choice", choices: ["random", "fixed"] },
    { name: "seed", kind: "seed" },
  ],
  clock: [
    { name: "decision_time", kind: "seconds" },
    { name: "bank_time", kind: "seconds" },
    { name: "pause", kind: "seconds" },
  ],
  players: [
    { name: "fill", kind: "bots" },
    { name: "fill_delay", kind: "seconds" },
    { name: "wait_timeout", kind: "seconds", unlimited: true },
    { name: "idle", kind: "choice", choices: ["leave", "stay"] },
  ],
  faults: [
    { name: "max_faults", kind: "count" },
    { name: "house_bot", kind: "bot" },
    { name: "resume_timeout", kind: "seconds" },
    { name: "fault_penalty", kind: "points" },
  ],
  spectators: [{ name: "spectator_delay", kind: "seconds" }],
};

/**
 * A setting's value in words.
 * @param {Field} field
 * @param {any} value
 * @returns {string}
 */
export function valueText({ kind, unlimited, choices = [] }, value) {
  if (unlimited && value === 0) return t("room_no_limit");
  if (kind === "seconds") return t("room_seconds", { n: value });
  if (kind === "flag") return t(`choice_${value}`);
  if (choices.includes(value)) return t(`choice_${value}`);
  if (kind === "bots") return value.length ? value.join(", ") : t("room_nobody");
  if (kind === "scores") return value.map((/** @type {number} */ score) => number(score)).join(" / ");
  return String(value);
}

/**
 * What matters most to somebody who wants to play there, in a few short texts.
 * @param {Record<string, any>} settings
 * @returns {string[]}
 */
export function shortTexts(settings) {
  const { rules, length, rated, decision_time, bank_time, fill, fill_delay } = settings;
  const filled = fill.length ? (fill_delay ? "room_filled" : "room_filled_now") : "room_not_filled";
  return [
    gameText(rules, length, rated),
    t("room_clock", { n: decision_time, bank: bank_time }),
    t(filled, { bots: fill.join(", "), n: fill_delay }),
  ];
}

/**
 * Rules and length in words; they may be of another version of the server.
 * @param {string} rules
 * @param {string} length
 * @param {boolean} rated whether the game counts for ratings
 */
export function gameText(rules, length, rated) {
  const known = [rules, length].map((value) =>
    RULES.includes(value) || LENGTHS.includes(value) ? t(`choice_${value}`) : value,
  );
  return [...known, ...(rated ? [] : [t("room_unrated")])].join(" · ");
}

/** Where one plays in a room. @param {string} name */
export function playPath(name) {
  return `/rooms/${encodeURIComponent(name)}/play`;
}

/** The games of a room. @param {string} name */
export function gamesPath(name) {
  return `/?room=${encodeURIComponent(name)}`;
}
