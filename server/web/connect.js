/** "Connect your bot": what to paste into a terminal so that a bot plays at this very server. */

import { socketAddress } from "./api.js";
import { el } from "./dom.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */

const BOT = "rule"; // in the lines to paste
const NOW = `try+${BOT}+${BOT}`; // a room whose game begins at once
const COPIED_SHOWN = 2000; // milliseconds

/** Rooms to play in, and how; `lobby_where_KEY` are their words. @type {Record<string, {room: string, flags: string}>} */
const ROOMS = {
  now: { room: NOW, flags: "" },
  watch: { room: NOW, flags: " --pause 1" }, // a hanchan of house bots is over in less than a second
  default: { room: "default", flags: "" },
};

/**
 * The lines to paste, by their keys: `lobby_line_KEY` says what a line is for.
 * @param {ServerInfo} server
 * @param {string} where of ROOMS
 * @returns {Record<string, string>}
 */
function lines({ mjai_port, tokens_needed }, where) {
  const { room, flags } = ROOMS[where];
  const tcp = `mjsonp://${location.hostname}:${mjai_port}/${room}`;
  const token = tokens_needed ? " --name NAME --token TOKEN" : "";
  return {
    installed: `nukidora client ${BOT} ${tcp}${token}${flags}`,
    clone: `python -m agents.client ${BOT} ${tcp}${token}${flags}`,
    tcp,
    websocket: socketAddress(`/mjai/${room}`),
  };
}

/**
 * The lines with buttons that copy them, and where to read on.
 * @param {ServerInfo} server
 * @returns {HTMLElement}
 */
export function connect(server) {
  const codes = Object.fromEntries(Object.keys(lines(server, "now")).map((key) => [key, el("code", {})]));
  const rooms = Object.keys(ROOMS).map((key) => el("option", { value: key }, t(`lobby_where_${key}`)));
  const where = el("select", { onchange: fill }, rooms);

  function fill() {
    for (const [key, line] of Object.entries(lines(server, where.value))) codes[key].textContent = line;
  }

  fill();
  const command = "python -m server token add NAME";
  return el(
    "div",
    { class: "lobby-lines" },
    el("p", {}, t("lobby_connect_text", { bot: BOT })),
    server.tokens_needed && el("p", {}, t("lobby_tokens", { command })),
    el("label", { class: "field" }, t("lobby_where"), where),
    el("dl", {}, ...Object.entries(codes).map(([key, code]) => copied(t(`lobby_line_${key}`), code))),
    el(
      "p",
      { class: "muted" },
      t("lobby_docs", { file: "docs/protocol.md" }),
      el("a", { href: "/docs" }, t("lobby_docs_link")),
    ),
  );
}

/** A line with a button that copies it. @param {string} what it is for @param {HTMLElement} code */
function copied(what, code) {
  const button = el(
    "button",
    { class: "quiet", "aria-label": t("lobby_copy_of", { what }), onclick: copy },
    t("lobby_copy"),
  );
  const said = el("span", { role: "status", class: "muted" });

  async function copy() {
    getSelection()?.selectAllChildren(code); // what to copy, also where the browser does not let the page do it
    try {
      await navigator.clipboard.writeText(code.textContent);
      said.textContent = t("lobby_copied");
    } catch {
      said.textContent = t("lobby_selected"); // there is no clipboard without TLS, or it is not allowed
    }
    setTimeout(() => said.replaceChildren(), COPIED_SHOWN);
  }

  return el("div", {}, el("dt", {}, what, said, button), el("dd", {}, code));
}
