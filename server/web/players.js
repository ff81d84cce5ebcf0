/** The list of players: in an order, by the beginning of their names, page by page. */

import { el } from "./dom.js";
import { number, signed } from "./format.js";
import { showError, startPage } from "./page.js";
import { pages, placementBar, playerLink, scrolled, tableHead } from "./player_parts.js";
import { t } from "./words.js";
import "./words_players.js";

/**
 * @typedef {object} Player as the API sends it
 * @property {string} name
 * @property {boolean} house_bot
 * @property {number} games
 * @property {number} rated_games 0: no rating, and last in the order of ratings
 * @property {number} firsts
 * @property {number} seconds
 * @property {number} thirds
 * @property {number | null} mean_rank
 * @property {number | null} mean_points
 * @property {{mu: number, sigma: number, ordinal: number}} rating
 */

const ORDERS = ["rating", "games", "name"];
const LIMIT = 50; // players of a page

const query = new URLSearchParams(location.search);
const order = ORDERS.find((known) => known === query.get("order")) ?? "rating";
const prefix = query.get("prefix") ?? "";
const ranked = order !== "name" && prefix === ""; // the places of all players in the order

/** The address of the list. @param {Record<string, string>} parameters */
function address(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "");
  return `/players?${new URLSearchParams(given)}`;
}

/** Links to the other orders. */
function orders() {
  const links = ORDERS.map((name) => {
    const current = name === order ? "page" : null;
    return el("a", { href: address({ order: name, prefix }), "aria-current": current }, t(`players_by_${name}`));
  });
  return el("nav", { class: "tabs", "aria-label": t("players_order") }, links);
}

/** The field for the beginning of a name. */
function search() {
  const field = el("input", { type: "search", name: "prefix", value: prefix, maxlength: 64, autocomplete: "off" });
  const find = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    location.assign(address({ order, prefix: field.value }));
  };
  return el(
    "form",
    { role: "search", class: "row players-search", onsubmit: find },
    el("label", {}, t("players_find"), field),
    el("button", {}, t("players_find_button")),
  );
}

/** @param {Player} player @param {number} place */
function row(player, place) {
  const { mu, sigma, ordinal } = player.rating;
  const rated = player.rated_games > 0;
  return el(
    "tr",
    {},
    ranked && el("td", { class: "number" }, rated || order !== "rating" ? place : ""),
    el("th", { scope: "row", class: "player-cell" }, playerLink(player.name)),
    el("td", { class: "number" }, el("strong", {}, number(rated ? ordinal : null, 1))),
    el("td", { class: "number muted wide" }, rated ? `${number(mu, 1)} ± ${number(3 * sigma, 1)}` : ""),
    el("td", { class: "number" }, number(player.games)),
    el("td", { class: "placements-cell" }, placementBar(player)),
    el("td", { class: "number middle" }, number(player.mean_rank, 2)),
    el("td", { class: "number wide" }, signed(player.mean_points, 1)),
  );
}

async function start() {
  const main = startPage(t("players"));
  const body = el("tbody");
  const head = tableHead([
    .../** @type {[string, string][]} */ (ranked ? [[t("players_rank"), "number"]] : []),
    [t("players_name"), ""],
    [t("players_rating"), "number"],
    [t("players_skill"), "number wide"],
    [t("players_games"), "number"],
    [t("players_placements"), ""],
    [t("players_mean_rank"), "number middle"],
    [t("players_mean_points"), "number wide"],
  ]);
  const table = el("table", { class: "list players-list" }, head, body);
  const path = `/api/players?${new URLSearchParams({ order, prefix, limit: String(LIMIT) })}`;
  let shown = 0;
  const { button, load } = pages(path, (/** @type {Player[]} */ players) => {
    body.append(...players.map((player) => row(player, ++shown)));
  });
  main.append(el("h1", {}, t("players_title")), el("div", { class: "players-choice" }, orders(), search()));
  await load();
  if (shown)
    main.append(scrolled(t("players_title"), table), button, el("p", { class: "muted" }, t("players_explained")));
  else main.append(el("p", {}, prefix ? t("players_none_found", { prefix }) : t("players_none")));
}

start().catch((error) => showError(error.message));
