/** The form for a new room, with a field for every setting. */

import { ApiError, request } from "./api.js";
import { withToken } from "./ask.js";
import { el } from "./dom.js";
import { labelled, settingField, tell, tellError, valuesJson } from "./form_fields.js";
import { GROUPS } from "./room_settings.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */
/** @typedef {import("./form_fields.js").Shown} Shown */

const FIELDS = Object.values(GROUPS).flat();

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
    const parts = fields.map((field) => settingField(shown, field, values[field.name], server.house_bots));
    return el("fieldset", {}, el("legend", {}, t(`group_${group}`)), el("div", { class: "rooms-fields" }, parts));
  });
  const problem = el("p", { class: "bad", role: "alert" });
  const button = el("button", { class: "primary" }, t("rooms_send"));
  const form = el(
    "form",
    { class: "card rooms-form", novalidate: true, onsubmit: submitted, "aria-labelledby": "rooms-new" },
    el("h2", { id: "rooms-new" }, t("rooms_new")),
    labelled(shown, "name", t("rooms_name"), t("rooms_name_hint"), [name]),
    el("p", { class: "muted" }, t("room_own_hint")),
    ...groups,
    problem,
    el("div", { class: "row" }, button, el("button", { type: "button", onclick: cancelled }, t("rooms_cancel"))),
  );

  /** @param {Event} event */
  async function submitted(event) {
    event.preventDefault();
    tell(shown, problem, "");
    if (!name.value.trim()) return tell(shown, problem, t("rooms_no_name"), "name");
    button.disabled = true;
    try {
      const body = `{"name":${JSON.stringify(name.value.trim())},"settings":${valuesJson(shown, FIELDS)}}`;
      const headers = { "Content-Type": "application/json" };
      const sent = await withToken(server.tokens_needed, () =>
        request("/api/rooms", { method: "POST", headers, body }),
      );
      if (sent) opened(name.value.trim());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      tellError(shown, problem, error);
    } finally {
      button.disabled = false;
    }
  }

  return form;
}
