/** The form for a new room, with a field for every setting. */

import { ApiError, request } from "./api.js";
import { withToken } from "./ask.js";
import { el } from "./dom.js";
import { GROUPS } from "./room_settings.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */
/** @typedef {import("./room_settings.js").Field} Field */
/** @typedef {HTMLInputElement | HTMLSelectElement} Input */

const SCORES = [0, 1, 2]; // one for each player
const FLAGS = ["true", "false"];
const MAX_FILL = 2; // house bots in a room
const AT = /^body: (?:settings\.)?(\w+)/; // where an error of the API is: the name of a field, or `room` for its name
const SEED = /^\d+$/; // up to 64 bits, more than a number of JavaScript holds

/** Fields with their inputs, by name. @typedef {Map<string, {inputs: Input[], problem: HTMLElement}>} Shown */

/**
 * The form.
 * @param {ServerInfo} server
 * @param {Record<string, any>} values of settings to begin with; where one is missing, the server's own is meant
 * @param {(name: string) => void} opened is called with the name of the new room
 * @param {() => void} cancelled
 * @returns {HTMLFormElement}
 */
export function roomForm(server, values, opened, cancelled) {
  /** @type {Shown} */
  const shown = new Map();
  const name = el("input", { name: "name", autocomplete: "off", spellcheck: "false" });
  const groups = Object.entries(GROUPS).map(([group, fields]) => {
    const parts = fields.map((field) => {
      const inputs = inputsOf(field, values[field.name], server.house_bots);
      return labelled(
        shown,
        field.name,
        t(`setting_${field.name}`),
        t(`setting_${field.name}_hint`),
        inputs,
        unit(field),
      );
    });
    return el("fieldset", {}, el("legend", {}, t(`group_${group}`)), el("div", { class: "rooms-fields" }, parts));
  });
  const problem = el("p", { class: "bad", role: "alert" });
  const button = el("button", { class: "primary" }, t("rooms_send"));
  const form = el(
    "form",
    { class: "card rooms-form", novalidate: true, onsubmit: submitted, "aria-labelledby": "rooms-new" },
    el("h2", { id: "rooms-new" }, t("rooms_new")),
    labelled(shown, "name", t("rooms_name"), t("rooms_name_hint"), [name], ""),
    el("p", { class: "muted" }, t("room_own_hint")),
    ...groups,
    problem,
    el("div", { class: "row" }, button, el("button", { type: "button", onclick: cancelled }, t("rooms_cancel"))),
  );

  /** @param {Event} event */
  async function submitted(event) {
    event.preventDefault();
    tell(shown, problem, "");
    button.disabled = true;
    try {
      const body = `{"name":${JSON.stringify(name.value.trim())},"settings":${settingsJson(shown)}}`;
      const headers = { "Content-Type": "application/json" };
      const sent = await withToken(server.tokens_needed, () =>
        request("/api/rooms", { method: "POST", headers, body }),
      );
      if (sent) opened(name.value.trim());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tell(shown, problem, error.message, error.detail);
    } finally {
      button.disabled = false;
    }
  }

  return form;
}

/**
 * A field with its label, its hint, and a place for what is wrong with it.
 * @param {Shown} shown gets the field
 * @param {string} name
 * @param {string} label
 * @param {string} hint
 * @param {Input[]} inputs
 * @param {string} unit
 */
function labelled(shown, name, label, hint, inputs, unit) {
  const id = `room-${name}`;
  const problem = el("p", { id: `${id}-problem`, class: "bad rooms-problem", role: "alert" });
  const described = `${id}-hint ${id}-problem`;
  inputs.forEach((input, index) => {
    input.id = index === 0 ? id : `${id}-${index}`;
    input.setAttribute("aria-describedby", described);
    if (index) input.setAttribute("aria-label", `${label} ${index + 1}`);
  });
  shown.set(name, { inputs, problem });
  return el(
    "div",
    { class: "rooms-field" },
    el("label", { for: id }, label),
    el("div", { class: "rooms-inputs" }, ...inputs, unit && el("span", { class: "muted" }, unit)),
    el("p", { id: `${id}-hint`, class: "muted rooms-hint" }, hint),
    problem,
  );
}

/** @param {Field} field */
function unit({ kind }) {
  return kind === "seconds" || kind === "points" ? t(`unit_${kind}`) : "";
}

/** @param {Field} field @param {any} value @param {string[]} bots @returns {Input[]} */
function inputsOf({ name, kind, choices = [] }, value, bots) {
  if (kind === "bots") {
    const options = ["", ...bots];
    return Array.from({ length: MAX_FILL }, (_, i) =>
      select(name, options, value?.[i] ?? "", (bot) => bot || t("room_nobody")),
    );
  }
  if (kind === "choice")
    return [select(name, ownFirst(choices, value), value, (v) => (v ? t(`choice_${v}`) : t("room_own")))];
  if (kind === "flag") {
    return [select(name, ownFirst(FLAGS, String(value)), String(value), (v) => (v ? t(`choice_${v}`) : t("room_own")))];
  }
  if (kind === "bot") return [select(name, ownFirst(bots, value), value, (bot) => bot || t("room_own"))];
  if (kind === "scores")
    return SCORES.map((_, i) => el("input", { name, type: "number", step: 100, value: value?.[i] }));
  if (kind === "seed") return [el("input", { name, inputmode: "numeric", autocomplete: "off" })];
  return [el("input", { name, type: "number", step: kind === "count" ? 1 : "any", value })];
}

/**
 * Choices, before them the server's own where the value is none of them.
 * @param {string[]} choices
 * @param {string} value
 */
function ownFirst(choices, value) {
  return choices.includes(value) ? choices : ["", ...choices];
}

/** @param {string} name @param {string[]} values @param {string} chosen @param {(value: string) => string} text */
function select(name, values, chosen, text) {
  const options = values.map((value) => el("option", { value, selected: value === chosen }, text(value)));
  return el("select", { name }, options);
}

/** The settings as JSON; fields that are empty are left out. @param {Shown} shown */
function settingsJson(shown) {
  const parts = Object.values(GROUPS)
    .flat()
    .map((field) => [field.name, valueJson(field, shown.get(field.name)?.inputs ?? [])])
    .filter(([, json]) => json);
  return `{${parts.map(([name, json]) => `"${name}":${json}`).join(",")}}`;
}

/** @param {Field} field @param {Input[]} inputs */
function valueJson({ kind }, inputs) {
  const [{ value, validity }] = inputs;
  if (kind === "bots") return JSON.stringify(inputs.map((input) => input.value).filter(Boolean));
  if (kind === "scores") {
    const scores = inputs.filter((input) => input.value).map((input) => Number(input.value));
    return scores.length ? JSON.stringify(scores) : "";
  }
  if (kind === "seed" && !value.trim()) return "null"; // random, also where the server has one of its own
  if (kind === "seed") return SEED.test(value.trim()) ? String(BigInt(value.trim())) : JSON.stringify(value);
  if (kind === "flag") return value;
  if (kind === "choice" || kind === "bot") return value && JSON.stringify(value);
  if (validity.badInput) return JSON.stringify("no number"); // for the API to refuse
  return value && JSON.stringify(Number(value));
}

/**
 * Show an error of the API at its field, or at the end of the form.
 * @param {Shown} shown
 * @param {HTMLElement} general at the end of the form
 * @param {string} text "" removes what is shown
 * @param {string} [detail] as the server says it: where the error is
 */
function tell(shown, general, text, detail = "") {
  const found = AT.exec(detail)?.[1] ?? "";
  const at = shown.has(found) ? found : found === "room" ? "name" : "";
  for (const [name, { inputs, problem }] of shown) {
    problem.textContent = name === at ? text.replace(/^body: /, "") : "";
    for (const input of inputs) input.toggleAttribute("aria-invalid", name === at);
  }
  general.textContent = at ? "" : text;
  shown.get(at)?.inputs[0].focus();
}
