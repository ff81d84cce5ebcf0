/** The form for a new tournament. */

import { ApiError, request } from "./api.js";
import { withToken } from "./ask.js";
import { el } from "./dom.js";
import { checkBoxes, labelled, settingField, tell, tellError, valuesJson } from "./form_fields.js";
import { GROUPS } from "./room_settings.js";
import { t } from "./words.js";
import "./words_tournaments.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */
/** @typedef {import("./room_settings.js").Field} Field */

/** What a tournament may set of a room: `SETTABLE` of server/tournaments/plan.py. */
const SETTABLE = new Set([
  "rules",
  "length",
  "rated",
  "decision_time",
  "bank_time",
  "house_bot",
  "max_faults",
  "resume_timeout",
  "fault_penalty",
  "spectator_delay",
  "pause",
]);
const SETTINGS = Object.values(GROUPS)
  .flat()
  .filter(({ name }) => SETTABLE.has(name));
/** How much is played. @type {Field[]} */
const AMOUNTS = [
  { name: "walls", kind: "count" },
  { name: "games", kind: "count" },
  { name: "places", kind: "count" },
];
/** @type {Field} */
const SEED = { name: "seed", kind: "seed" };
const WALLS = "10"; // to begin with
const TAKEN = 409; // status where the name is that of another tournament or room

/**
 * The form.
 * @param {ServerInfo} server
 * @param {Record<string, any>} values of settings to begin with; where one is missing, the server's own is meant
 * @param {(name: string) => void} created is called with the name of the new tournament
 * @param {() => void} cancelled
 * @returns {HTMLFormElement}
 */
export function tournamentForm(server, values, created, cancelled) {
  /** @type {import("./form_fields.js").Shown} */
  const shown = new Map();
  const field = (/** @type {string} */ key, /** @type {import("./form_fields.js").Input} */ input) =>
    labelled(shown, key, t(`tour_field_${key}`), t(`tour_field_${key}_hint`), [input]);
  const name = el("input", { name: "name", autocomplete: "off", spellcheck: "false" });
  const entrants = el("textarea", { name: "entrants", rows: 3, spellcheck: "false", autocapitalize: "off" });
  const starts = el("input", { name: "starts", type: "datetime-local" });
  const amounts = AMOUNTS.map(({ name: key }) =>
    field(key, el("input", { name: key, type: "number", min: 0, step: 1, value: key === "walls" ? WALLS : "" })),
  );
  const house = checkBoxes(
    shown,
    "house_bots",
    t("tour_field_house_bots"),
    t("tour_field_house_bots_hint"),
    server.house_bots,
  );
  const seed = field("seed", el("input", { name: "seed", inputmode: "numeric", autocomplete: "off" }));
  const problem = el("p", { class: "bad", role: "alert" });
  const button = el("button", { class: "primary" }, t("tour_send"));
  const form = el(
    "form",
    { class: "card rooms-form", novalidate: true, onsubmit: submitted, "aria-labelledby": "tour-new" },
    el("h2", { id: "tour-new" }, t("tour_new")),
    el("div", { class: "rooms-fields" }, field("name", name), field("starts", starts)),
    el("div", { class: "tour-entrants" }, field("entrants", entrants), house),
    el("div", { class: "rooms-fields" }, ...amounts, seed),
    el(
      "details",
      {},
      el("summary", {}, t("tour_settings")),
      el("p", { class: "muted" }, t("room_own_hint")),
      el(
        "div",
        { class: "rooms-fields" },
        SETTINGS.map((each) => settingField(shown, each, values[each.name], server.house_bots)),
      ),
    ),
    problem,
    el("div", { class: "row" }, button, el("button", { type: "button", onclick: cancelled }, t("tour_cancel"))),
  );

  /** The request, as JSON: a seed has up to 64 bits. */
  function body() {
    const bots = shown.get("house_bots")?.inputs ?? [];
    const own = {
      name: name.value.trim(),
      entrants: entrants.value.split("\n").flatMap((line) => line.trim() || []),
      house_bots: bots.filter((box) => /** @type {HTMLInputElement} */ (box).checked).map(({ value }) => value),
      ...(starts.value ? { starts: new Date(starts.value).toISOString() } : {}),
    };
    const amount = valuesJson(shown, [...AMOUNTS, SEED]);
    return `{${JSON.stringify(own).slice(1, -1)},${amount.slice(1, -1)},"settings":${valuesJson(shown, SETTINGS)}}`;
  }

  /** @param {Event} event */
  async function submitted(event) {
    event.preventDefault();
    tell(shown, problem, "");
    if (!name.value.trim()) return tell(shown, problem, t("rooms_no_name"), "name");
    if (starts.validity.badInput) return tell(shown, problem, t("tour_no_time"), "starts");
    button.disabled = true;
    try {
      const headers = { "Content-Type": "application/json" };
      const sent = await withToken(server.tokens_needed, () =>
        request("/api/tournaments", { method: "POST", headers, body: body() }),
      );
      if (sent) created(name.value.trim());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tellError(shown, problem, error, error.status === TAKEN ? "name" : "");
    } finally {
      button.disabled = false;
    }
  }

  return form;
}
