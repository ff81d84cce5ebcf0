/** Fields of the forms for rooms and tournaments: inputs by their kind, their values as JSON, errors of the API at them. */

import { el } from "./dom.js";
import { t } from "./words.js";
import "./words_rooms.js";

/** @typedef {import("./room_settings.js").Field} Field */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Input */

/** Fields with their inputs, by name. @typedef {Map<string, {label: string, inputs: Input[], problem: HTMLElement}>} Shown */

const SCORES = [0, 1, 2]; // one for each player
const FLAGS = ["true", "false"];
const MAX_FILL = 2; // house bots in a room
const AT = /^body: (?:settings\.)?(\w+)/; // where an error of the API is: the name of a field, or `room` for its name
const SEED = /^\d+$/; // up to 64 bits, more than a number of JavaScript holds

/**
 * A field with its label, its hint, and a place for what is wrong with it.
 * @param {Shown} shown gets the field
 * @param {string} name
 * @param {string} label
 * @param {string} hint
 * @param {Input[]} inputs
 * @param {string} [unit]
 */
export function labelled(shown, name, label, hint, inputs, unit = "") {
  const id = `field-${name}`;
  const [explained, problem] = about(shown, name, label, hint, inputs);
  inputs.forEach((input, index) => {
    input.id = index === 0 ? id : `${id}-${index}`;
    if (index) input.setAttribute("aria-label", `${label} ${index + 1}`);
  });
  return el(
    "div",
    { class: inputs.length > 2 ? "rooms-field rooms-wide" : "rooms-field" },
    el("label", { for: id }, label),
    el("div", { class: "rooms-inputs" }, ...inputs, unit && el("span", { class: "muted" }, unit)),
    explained,
    problem,
  );
}

/**
 * A field whose values are chosen by check boxes, each with the value as its label.
 * @param {Shown} shown gets the field
 * @param {string} name
 * @param {string} label
 * @param {string} hint
 * @param {string[]} values
 */
export function checkBoxes(shown, name, label, hint, values) {
  const inputs = values.map((value) => el("input", { type: "checkbox", name, value }));
  const parts = about(shown, name, label, hint, inputs);
  const boxes = inputs.map((input) => el("label", {}, input, " ", input.value));
  return el(
    "div",
    { class: "rooms-field", role: "group", "aria-label": label },
    el("span", { "aria-hidden": "true" }, label),
    el("div", { class: "rooms-boxes" }, boxes),
    ...parts,
  );
}

/**
 * The hint of a field, and the place for what is wrong.
 * @param {Shown} shown
 * @param {string} name
 * @param {string} label
 * @param {string} hint
 * @param {Input[]} inputs
 */
function about(shown, name, label, hint, inputs) {
  const id = `field-${name}`;
  const problem = el("p", { id: `${id}-problem`, class: "bad rooms-problem", role: "alert" });
  for (const input of inputs) input.setAttribute("aria-describedby", `${id}-hint ${id}-problem`);
  shown.set(name, { label, inputs, problem });
  return [el("p", { id: `${id}-hint`, class: "muted rooms-hint" }, hint), problem];
}

/**
 * The field of a setting.
 * @param {Shown} shown gets the field
 * @param {Field} field
 * @param {any} value undefined: the server's own is meant
 * @param {string[]} bots house bots to choose from
 */
export function settingField(shown, field, value, bots) {
  const { name, kind } = field;
  const unit = kind === "seconds" || kind === "points" ? t(`unit_${kind}`) : "";
  return labelled(shown, name, t(`setting_${name}`), t(`setting_${name}_hint`), inputsOf(field, value, bots), unit);
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

/** The values of some fields as a JSON object; those that are empty are left out. @param {Shown} shown @param {Field[]} fields */
export function valuesJson(shown, fields) {
  const parts = fields
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
 * Show an error of the API at its field, which it calls by its label, or at the end of the form.
 * @param {Shown} shown
 * @param {HTMLElement} general at the end of the form
 * @param {import("./api.js").ApiError} error
 * @param {string} [at] name of the field, where the error does not say it
 */
export function tellError(shown, general, error, at = "") {
  const said = at || (AT.exec(error.problem.detail)?.[1] ?? "");
  const field = said === "room" ? "name" : said;
  const label = shown.get(field)?.label;
  if (label === undefined) tell(shown, general, error.message);
  else tell(shown, general, error.about(label).replace(/^body: /, ""), field);
}

/**
 * Say what is wrong at a field, or at the end of the form.
 * @param {Shown} shown
 * @param {HTMLElement} general at the end of the form
 * @param {string} text "" removes what is shown
 * @param {string} [at] name of the field
 */
export function tell(shown, general, text, at = "") {
  for (const [name, { inputs, problem }] of shown) {
    problem.textContent = name === at ? text : "";
    for (const input of inputs) input.toggleAttribute("aria-invalid", name === at);
  }
  general.textContent = at ? "" : text;
  const input = shown.get(at)?.inputs[0];
  input?.closest("details")?.setAttribute("open", "");
  input?.focus();
}
