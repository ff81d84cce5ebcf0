/** "Play now": opens a room for one person against two house bots, and goes there. */

import { post } from "./api.js";
import { withToken } from "./ask.js";
import { el } from "./dom.js";
import { nameInput, setOwnName } from "./own_name.js";
import { LENGTHS, playPath, RULES } from "./room_settings.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */

/** Settings of a room, by what people choose; seconds. @type {Record<string, Record<string, number>>} */
const CLOCKS = {
  calm: { decision_time: 20, bank_time: 60, pause: 0.7 },
  fast: { decision_time: 5, bank_time: 10, pause: 0.3 },
};
const RESUME_TIMEOUT = 120; // seconds: people come back later than programs
const OPPONENTS = 2;
const USUAL = "rule"; // the opponent chosen at first
const DESCRIBED = ["random", "tsumogiri", "efficiency", "rule", "bert"];

/**
 * The form.
 * @param {ServerInfo} server
 * @returns {HTMLFormElement}
 */
export function playNow({ house_bots, tokens_needed }) {
  const name = nameInput(tokens_needed ? t("lobby_name_token") : null);
  const bots = Array.from({ length: OPPONENTS }, (_, index) => opponent(index + 1, house_bots));
  const clockText = el("p", { class: "muted lobby-hint" });
  const problem = el("p", { class: "bad", role: "alert" });
  const button = el("button", { class: "primary lobby-start" }, t("lobby_start"));
  const form = el(
    "form",
    { class: "lobby-play-form", onchange: explain, onsubmit: submitted },
    el("label", { class: "field" }, t("lobby_name"), name),
    ...bots,
    choice("length", LENGTHS, "choice_"),
    choice("clock", Object.keys(CLOCKS), "lobby_clock_"),
    choice("rules", RULES, "choice_"),
    clockText,
    problem,
    button,
  );

  function explain() {
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
      const room = await withToken(tokens_needed, () => post("/api/rooms", newRoom(chosen)));
      if (room) location.assign(playPath(room.name));
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    }
    button.disabled = false;
  }

  explain();
  return form;
}

/** The request that opens a room. @param {FormData} chosen */
function newRoom(chosen) {
  const settings = {
    rules: chosen.get("rules"),
    length: chosen.get("length"),
    fill: chosen.getAll("opponent"),
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

/** @param {number} number from 1 @param {string[]} houseBots */
function opponent(number, houseBots) {
  const options = houseBots.map((bot) => {
    const text = DESCRIBED.includes(bot) ? `${bot} – ${t(`lobby_bot_${bot}`)}` : bot;
    return el("option", { value: bot, selected: bot === USUAL }, text);
  });
  return el(
    "label",
    { class: "field" },
    t("lobby_opponent", { n: number }),
    el("select", { name: "opponent" }, options),
  );
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
