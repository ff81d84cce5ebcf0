/** The list of tournaments; admins create them. */

import { get } from "./api.js";
import { el, setText } from "./dom.js";
import { startPage } from "./page.js";
import { poll } from "./poll.js";
import { rows } from "./rows.js";
import { tournamentForm } from "./tournament_form.js";
import { chips, progress, turned } from "./tournament_parts.js";
import { t } from "./words.js";

/** @typedef {import("./tournament_parts.js").Info} Info */

const EVERY = 5; // seconds between two looks
const LIMIT = 50; // on a page

/** The row of a tournament. @returns {import("./rows.js").Row<Info>} */
function row() {
  const link = el("a", {});
  const told = el("p", { class: "rooms-chips" });
  const played = progress();
  const element = el("li", { class: "card rooms-room" }, el("h2", {}, link), told, played.element);
  /** @param {Info} info */
  const update = (info) => {
    setText(link, info.name);
    link.href = `/tournaments/${encodeURIComponent(info.name)}`;
    told.replaceChildren(...chips(info));
    played.update(info);
  };
  return { element, update };
}

function start() {
  const main = startPage(t("tournaments"));
  const trouble = el("p", { class: "trouble muted", role: "status" });
  const list = el("ul", { class: "rooms-list" });
  const empty = el("p", { class: "muted", hidden: true }, t("tour_none"));
  const show = rows(list, (/** @type {Info} */ { name }) => name, row);
  const { button, look } = turned(
    () => `/api/tournaments?limit=${LIMIT}`,
    ["tour_more", "tour_first"],
    (items) => {
      show(items);
      empty.hidden = items.length > 0;
    },
    () => again(),
  );
  const create = el("button", { class: "primary", hidden: true, onclick: showForm });
  const place = el("div", {});
  /** @type {import("./api.js").ServerInfo | null} */
  let server = null;
  main.append(
    el("h1", {}, t("tour_title")),
    el("p", { class: "muted" }, t("tour_intro")),
    trouble,
    el("div", { class: "row" }, create),
    place,
    list,
    empty,
    button,
  );
  const again = poll(turn, EVERY, (text) => setText(trouble, text));

  async function turn() {
    if (server === null) {
      server = /** @type {import("./api.js").ServerInfo} */ (await get("/api/server"));
      setText(create, t(server.tokens_needed ? "tour_create_admin" : "tour_create"));
      create.hidden = false;
    }
    await look();
  }

  async function showForm() {
    const values = await get("/api/rooms/default").catch(() => ({ settings: {} })); // it has the server's own settings
    const created = (/** @type {string} */ name) => location.assign(`/tournaments/${encodeURIComponent(name)}`);
    const form = tournamentForm(
      /** @type {import("./api.js").ServerInfo} */ (server),
      values.settings,
      created,
      hideForm,
    );
    place.replaceChildren(form);
    create.hidden = true;
    form.querySelector("input")?.focus();
  }

  function hideForm() {
    place.replaceChildren();
    create.hidden = false;
    create.focus();
  }
}

start();
