/** "Play now": opens a room for one person against two house bots, and goes there. */

import { post } from "./api.js";
import { withToken } from "./ask.js";
import { el } from "./dom.js";
import { number, signed } from "./format.js";
import { nameInput, setOwnName } from "./own_name.js";
import { LENGTHS, playPath, RULES } from "./room_settings.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */

/** Settings of a room, by what people choose; seconds. @type {Record<string, Record<string, number>>} */
const CLOCKS = {
  calm: { decision_time: 20, bank_time: 60, pause: 0.7 },
  fast: { decision_time: 5, bank_time: 10, pause: 0.3 },
};
const COUNTS = ["rated", "casual"];
const RESUME_TIMEOUT = 120; // seconds: people come back later than programs
const OPPONENTS = 2;
const USUAL = "rule"; // the opponent chosen at first
const STRENGTHS = [0, -100, -200, -300, -500]; // points; as in rule@-300
const HANDICAPS = [35000, 45000, 55000, 25000, 15000]; // what the person starts with; the opponents share the rest
const ALL_POINTS = 105000;
/** How strong a bot is called, by the points that it has at least. @type {[number, string][]} */
const LEVELS = [
  [130, "strong"],
  [0, "medium"],
  [-Infinity, "weak"],
];

/**
 * The form: all of it at once, so that nothing below it moves; its button works once `show` has the server's bots.
 * @returns {{element: HTMLFormElement, show: (server: ServerInfo) => void}}
 */
export function playNow() {
  const name = nameInput();
  const bots = Array.from({ length: OPPONENTS }, () => el("select", { name: "opponent" }));
  const strength = chooser("strength", STRENGTHS, strengthText);
  const handicap = chooser("handicap", HANDICAPS, handicapText);
  const clockText = el("p", { class: "muted lobby-hint" });
  const problem = el("p", { class: "bad", role: "alert" });
  const button = el("button", { class: "primary lobby-start", disabled: true }, t("lobby_start"));
  /** @type {Pick<ServerInfo, "weakest" | "tokens_needed">} */
  let server = { weakest: {}, tokens_needed: false };
  const form = el(
    "form",
    { class: "lobby-play-form", onchange: explain, onsubmit: submitted },
    el("label", { class: "field" }, t("lobby_name"), name),
    bots.map((select, index) => el("label", { class: "field" }, t("lobby_opponent", { n: index + 1 }), select)),
    strength,
    handicap,
    choice("length", LENGTHS, "choice_"),
    choice("clock", Object.keys(CLOCKS), "lobby_clock_"),
    choice("rules", RULES, "choice_"),
    choice("counts", COUNTS, "lobby_counts_"),
    clockText,
    problem,
    button,
  );

  /** @param {ServerInfo} told */
  function show(told) {
    server = told;
    if (told.tokens_needed) name.placeholder = t("lobby_name_token");
    for (const select of bots) select.append(...botOptions(told.house_bots, told.ratings, USUAL));
    explain();
    button.disabled = false;
  }

  function explain() {
    const lowest = Math.max(...new FormData(form).getAll("opponent").map((bot) => server.weakest[String(bot)] ?? 0));
    const select = /** @type {HTMLSelectElement} */ (strength.querySelector("select"));
    for (const option of select.options) option.disabled = Number(option.value) < lowest;
    if (select.selectedOptions[0].disabled) select.selectedIndex = 0;
    const { decision_time, bank_time, pause } = CLOCKS[String(new FormData(form).get("clock"))];
    clockText.textContent = t("lobby_clock_text", { decision: decision_time, bank: bank_time, pause });
  }

  /** @param {Event} event */
  async function submitted(event) {
    event.preventDefault();
    const chosen = new FormData(form);
    setOwnName(name.value.trim());
    button.disabled = true;
    problem.textContent = "";
    try {
      const room = await withToken(server.tokens_needed, () => post("/api/rooms", newRoom(chosen)));
      if (room) location.assign(playPath(room.name));
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    }
    button.disabled = false;
  }

  explain();
  return { element: form, show };
}

/** The request that opens a room. @param {FormData} chosen */
function newRoom(chosen) {
  const own = Number(chosen.get("handicap"));
  const points = Number(chosen.get("strength"));
  const rated = chosen.get("counts") === "rated";
  const settings = {
    rules: chosen.get("rules"),
    length: chosen.get("length"),
    scores: [own, (ALL_POINTS - own) / 2, (ALL_POINTS - own) / 2],
    fill: chosen.getAll("opponent").map((bot) => (points ? `${bot}@${points}` : bot)),
    rated,
    hints: !rated,
    fill_delay: 0,
    resume_timeout: RESUME_TIMEOUT,
    ...CLOCKS[String(chosen.get("clock"))],
  };
  return { name: randomName(), permanent: false, settings };
}

/** A name that no other room has. */
function randomName() {
  const [low, high] = crypto.getRandomValues(new Uint32Array(2)); // randomUUID is missing on pages without TLS
  return `table-${low.toString(36)}${high.toString(36)}`;
}

/** House bots to choose from. @param {string[]} bots @param {Record<string, number>} ratings @param {string} chosen */
export function botOptions(bots, ratings, chosen) {
  return bots.map((bot) => el("option", { value: bot, selected: bot === chosen }, described(bot, ratings[bot])));
}

/** A bot with its strength; the points come first, as a phone cuts the end. @param {string} bot @param {number} [rating] */
function described(bot, rating) {
  if (rating === undefined) return `${bot} – ${t("lobby_bot_unrated")}`;
  const [, level] = /** @type {[number, string]} */ (LEVELS.find(([least]) => rating >= least));
  return `${bot} ${signed(rating)} – ${t(`lobby_bot_${level}`)}`;
}

/**
 * A list to choose a number from.
 * @param {string} name
 * @param {number[]} values
 * @param {(value: number) => string} text
 */
function chooser(name, values, text) {
  const options = values.map((value) => el("option", { value }, text(value)));
  return el("label", { class: "field" }, t(`lobby_${name}`), el("select", { name }, options));
}

/** @param {number} points */
function strengthText(points) {
  return t(points ? `lobby_strength${points}` : "lobby_strength_full");
}

/** @param {number} own */
function handicapText(own) {
  if (own * OPPONENTS === ALL_POINTS - own) return t("lobby_handicap_even");
  return t("lobby_handicap_text", { own: number(own), others: number((ALL_POINTS - own) / OPPONENTS) });
}

/**
 * Some buttons, of which one is chosen: the first.
 * @param {string} name
 * @param {string[]} values
 * @param {string} words the beginning of the keys of their words
 */
function choice(name, values, words) {
  const buttons = values.map((value, index) =>
    el(
      "label",
      {},
      el("input", { type: "radio", name, value, checked: index === 0 }),
      el("span", {}, t(words + value)),
    ),
  );
  return el("fieldset", { class: "lobby-choice" }, el("legend", {}, t(`lobby_${name}`)), el("div", {}, buttons));
}
