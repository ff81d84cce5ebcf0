/** The rooms page: all open rooms with their settings; admins open and close them. */

import { get, request } from "./api.js";
import { ask, withToken } from "./ask.js";
import { el, setText } from "./dom.js";
import { showError, startPage } from "./page.js";
import { poll } from "./poll.js";
import { roomForm } from "./room_form.js";
import { GROUPS, gamesPath, playPath, shortTexts, valueText } from "./room_settings.js";
import { rows } from "./rows.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */

/**
 * @typedef {object} Room
 * @property {string} name
 * @property {Record<string, any>} settings
 * @property {string[]} waiting_names
 * @property {number} playing
 * @property {number} started
 * @property {boolean} permanent
 * @property {boolean} tournament it is that of the tournament of its name
 */

const EVERY = 5; // seconds between two looks
const ROOMS = 50; // on a page

/** All settings of a room. @param {Record<string, any>} settings */
function allSettings(settings) {
  const groups = Object.entries(GROUPS).map(([group, fields]) => {
    const known = fields.filter(({ name }) => settings[name] !== undefined); // a seed is never published
    const parts = known.map((field) =>
      el("div", {}, el("dt", {}, t(`setting_${field.name}`)), el("dd", {}, valueText(field, settings[field.name]))),
    );
    return el("div", {}, el("h3", {}, t(`group_${group}`)), el("dl", {}, parts));
  });
  return el("details", {}, el("summary", {}, t("rooms_all_settings")), el("div", { class: "rooms-settings" }, groups));
}

/** The row of a room. @param {(name: string) => void} close @returns {import("./rows.js").Row<Room>} */
function roomRow(close) {
  const element = el("li", { class: "card rooms-room" });
  const counts = el("p", {});
  const settings = el("div", {});
  let shown = "";
  /** @param {Room} room */
  const update = (room) => {
    const { name } = room;
    if (!element.children.length) {
      const links = el(
        "div",
        { class: "row" },
        room.tournament
          ? el("a", { class: "button", href: `/tournaments/${name}` }, t("rooms_tournament"))
          : el(
              "a",
              { class: "button", href: playPath(name), "aria-label": t("rooms_play_in", { name }) },
              t("rooms_play"),
            ),
        el(
          "a",
          { class: "button", href: gamesPath(name), "aria-label": t("rooms_games_of", { name }) },
          t("rooms_games"),
        ),
        !room.tournament &&
          el(
            "button",
            { class: "quiet", "aria-label": t("rooms_close_it", { name }), onclick: () => close(name) },
            t("rooms_close"),
          ),
      );
      element.append(el("div", { class: "rooms-head" }, el("h2", {}, name), links), counts, settings);
    }
    const names = room.waiting_names;
    const waits = names.length ? `${t("rooms_waiting")}: ${names.join(", ")}` : t("rooms_nobody_waits");
    const counted = `${t("rooms_playing")}: ${room.playing} · ${t("rooms_started")}: ${room.started}`;
    setText(counts, `${waits} · ${counted} · ${t(room.permanent ? "rooms_permanent" : "rooms_sitting")}`);
    const next = JSON.stringify(room.settings); // another room may have the name now
    if (next === shown) return;
    shown = next;
    const chips = shortTexts(room.settings).map((text) => el("span", { class: "chip" }, text));
    settings.replaceChildren(el("p", { class: "rooms-chips" }, chips), allSettings(room.settings));
  };
  return { element, update };
}

/** Fill the page, and keep it up to date. */
async function start() {
  const main = startPage(t("rooms"));
  const trouble = el("p", { class: "trouble muted", role: "status" });
  const done = el("p", { class: "trouble good", role: "status" });
  const list = el("ul", { class: "rooms-list" });
  const empty = el("p", { class: "muted", hidden: true }, t("rooms_empty"));
  const open = el("button", { class: "primary", hidden: true, onclick: showForm }, t("rooms_open"));
  const place = el("div", {});
  const turn = el("button", { hidden: true, onclick: turnPage });
  main.append(el("h1", {}, t("rooms_title")), el("p", { class: "muted" }, t("rooms_intro")));
  main.append(trouble, el("div", { class: "row" }, open, done), place, list, empty, turn);
  const show = rows(
    list,
    (/** @type {Room} */ { name }) => name,
    () => roomRow(close),
  );
  /** @type {ServerInfo | null} */
  let server = null;
  let cursor = ""; // of the page that is shown
  /** @type {string | null} */
  let nextCursor = null;

  const again = poll(look, EVERY, (text) => setText(trouble, text));

  async function look() {
    if (server === null) {
      server = /** @type {ServerInfo} */ (await get("/api/server"));
      setText(open, t(server.tokens_needed ? "rooms_open_admin" : "rooms_open"));
      open.hidden = false;
    }
    const page = await get(`/api/rooms?limit=${ROOMS}&cursor=${encodeURIComponent(cursor)}`);
    show(page.items);
    empty.hidden = page.items.length > 0;
    nextCursor = page.next_cursor;
    turn.hidden = !cursor && nextCursor === null;
    setText(turn, t(nextCursor === null ? "rooms_first" : "rooms_next"));
  }

  function turnPage() {
    cursor = nextCursor ?? "";
    again();
  }

  async function showForm() {
    const values = await get("/api/rooms/default").catch(() => ({ settings: {} })); // it has the server's own settings
    const form = roomForm(/** @type {ServerInfo} */ (server), values.settings, opened, hideForm);
    place.replaceChildren(form);
    open.hidden = true;
    form.querySelector("input")?.focus();
  }

  function hideForm() {
    place.replaceChildren();
    open.hidden = false;
    open.focus();
  }

  /** @param {string} name */
  function opened(name) {
    hideForm();
    setText(done, t("rooms_opened", { name }));
    again();
  }

  /** @param {string} name */
  async function close(name) {
    const question = { title: t("rooms_close_it", { name }), text: t("rooms_close_text"), send: t("rooms_close") };
    if ((await ask(question)) === null) return;
    const needed = /** @type {ServerInfo} */ (server).tokens_needed;
    try {
      const path = `/api/rooms/${encodeURIComponent(name)}`;
      if (await withToken(needed, () => request(path, { method: "DELETE" })))
        setText(done, t("rooms_closed", { name }));
    } catch (error) {
      showError(/** @type {Error} */ (error).message);
    }
    again();
  }
}

start();
