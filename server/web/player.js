/** A player's page: rating over time, statistics, opponents, and the latest games. */

import { get } from "./api.js";
import { lineChart } from "./chart.js";
import { el } from "./dom.js";
import { dateText, number, percent, signed } from "./format.js";
import { showError, startPage, subject } from "./page.js";
import { pages, placements, playerLink, scrolled, tableHead } from "./player_parts.js";
import { reviewForm } from "./player_review.js";
import { RULES } from "./room_settings.js";
import { t } from "./words.js";
import "./words_players.js";

/** @typedef {import("./players.js").Player & {rated_games: number, first_seen: string, last_seen: string}} Player */
/** @typedef {{number: number, finished: string, rating: {mu: number, sigma: number}}} RatingPoint */
/** @typedef {Record<string, number>} Counts */
/** @typedef {Record<string, number | null> & {games: number, play: Counts}} Statistics */
/** @typedef {{name: string, house_bot: boolean, games: number, better: number, mean_rank_difference: number}} Opponent */
/** @typedef {{name: string, house_bot: boolean, score: number, rank: number, points: number}} Seat */
/** @typedef {{id: string, room: string, finished: string, rated: boolean, seats: Seat[]}} Game */

const POINTS = 200; // of the chart
const OPPONENTS = 10;
const GAMES = 6;
const DAY = 86_400_000; // milliseconds
const PERIODS = ["all", "7", "30", "365"];

/**
 * The lines of the table: the key of a value, how it is written, and the counts behind it.
 * @type {[string, (value: number | null) => string, (found: Statistics) => string][]}
 */
const LINES = [
  ["mean_rank", (value) => number(value, 3), games],
  ["mean_score", number, games],
  ["busts", percent, ({ busts, games }) => ofAll(busts, games)],
  ["win_rate", percent, ({ play }) => ofAll(play.wins, play.rounds)],
  ["tsumo_share", percent, ({ play }) => ofAll(play.tsumos, play.wins)],
  ["mean_win_points", number, () => ""],
  ["mean_win_turn", (value) => number(value, 1), () => ""],
  ["deal_in_rate", percent, ({ play }) => ofAll(play.deal_ins, play.rounds)],
  ["mean_deal_in_points", number, () => ""],
  ["riichi_rate", percent, ({ play }) => ofAll(play.riichis, play.rounds)],
  ["call_rate", percent, ({ play }) => ofAll(play.calls, play.rounds)],
  ["draw_rate", percent, ({ play }) => ofAll(play.draws, play.rounds)],
  ["draw_tenpai_rate", percent, ({ play }) => ofAll(play.draws_tenpai, play.exhaustive_draws)],
  ["nukidora_per_round", (value) => number(value, 2), inRounds],
];

/** @param {number | null} count @param {number} all */
function ofAll(count, all) {
  return t("player_n_of_m", { n: number(count), m: number(all) });
}

/** @param {Statistics} found */
function games(found) {
  return t("player_n_games", { n: number(found.games) });
}

/** @param {Statistics} found */
function inRounds({ play }) {
  return t("player_n_in_m", { n: number(play.nukidora), m: number(play.rounds) });
}

/** A part of the page. @param {string} key of its heading @param {...(Node | string)} children */
function section(key, ...children) {
  const id = `section-${key}`;
  return el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, t(key)), ...children);
}

// Head -----------------------------------------------------------------------------------------------------------------

/** @param {Player} player */
function heading(player) {
  const { mu, sigma, ordinal } = player.rating;
  const facts = [
    [t("players_rating"), number(ordinal, 1), `${number(mu, 1)} ± ${number(3 * sigma, 1)}`],
    [t("players_games"), number(player.games), ""],
    [t("players_mean_rank"), number(player.mean_rank, 2), ""],
    [t("players_mean_points"), signed(player.mean_points, 1), ""],
  ].map(([term, value, note]) =>
    el("div", {}, el("dt", {}, term), el("dd", {}, el("strong", {}, value), " ", el("small", {}, note))),
  );
  const [first, last] = [dateText(player.first_seen), dateText(player.last_seen)];
  return el(
    "div",
    { class: "player-head" },
    el("p", {}, el("a", { href: "/players" }, t("player_all"))),
    el("h1", {}, player.name, player.house_bot && el("span", { class: "chip" }, t("players_house"))),
    el("dl", { class: "player-facts" }, facts),
    placements(player),
    el("p", { class: "muted" }, t("player_seen", { first, last })),
  );
}

// Rating ---------------------------------------------------------------------------------------------------------------

/** @param {string} path of the player in the API @param {Player} player */
async function ratingSection(path, player) {
  if (player.rated_games === 0) return section("player_rating_chart", el("p", {}, t("player_unrated")));
  const step = Math.ceil(player.rated_games / POINTS);
  const { items } = await get(`${path}/ratings?step=${step}&limit=${POINTS}`);
  /** @type {RatingPoint[]} */
  const ratings = items;
  const latest = { number: player.rated_games, finished: player.last_seen, rating: player.rating };
  if (ratings.at(-1)?.number !== latest.number) ratings.push(latest);
  const points = ratings.map(({ number: n, finished, rating: { mu, sigma } }) => {
    const label = t("player_game_n", { n: number(n), date: dateText(finished) });
    return { x: n, y: mu, low: mu - 3 * sigma, high: mu + 3 * sigma, label };
  });
  const series = [{ name: player.name, points }];
  const chart = lineChart({ series, xLabel: t("player_game"), yLabel: t("players_skill") });
  return section("player_rating_chart", chart, el("p", { class: "muted" }, t("player_rating_help")));
}

// Statistics -----------------------------------------------------------------------------------------------------------

/** @param {Statistics} found */
function statisticsTable(found) {
  if (found.games === 0) return [el("p", {}, t("player_no_games"))];
  const lines = LINES.map(([key, write, counts]) => {
    const value = key === "busts" ? Number(found.busts) / found.games : found[key];
    const help = el("small", { class: "muted" }, t(`player_${key}_help`));
    return el(
      "tr",
      { "data-statistic": key },
      el("th", { scope: "row" }, t(`player_${key}`), " ", help),
      el("td", { class: "number" }, el("strong", {}, write(value))),
      el("td", { class: "number muted" }, counts(found)),
    );
  });
  const head = tableHead([
    [t("player_statistic"), ""],
    [t("player_value"), "number"],
    [t("player_counts"), "number"],
  ]);
  const numbers = /** @type {{firsts: number, seconds: number, thirds: number}} */ (/** @type {unknown} */ (found));
  const table = el("table", { class: "list player-statistics" }, head, el("tbody", {}, lines));
  return [placements(numbers), scrolled(t("player_statistics"), table)];
}

/** A choice of values. @param {string} key @param {[string, string][]} values value and text @param {string} chosen */
function choice(key, values, chosen) {
  const options = values.map(([value, text]) => el("option", { value, selected: value === chosen }, text));
  const select = el("select", {}, options);
  return { select, label: el("label", {}, t(key), select) };
}

/** Statistics of chosen games; the choice is kept in the address. @param {string} path of the player in the API */
async function statisticsSection(path) {
  const query = new URLSearchParams(location.search);
  const periods = PERIODS.map((days) => /** @type {[string, string]} */ ([days, t(`player_period_${days}`)]));
  const period = choice("player_period", periods, query.get("days") ?? "all");
  const known = RULES.map((name) => /** @type {[string, string]} */ ([name, t(`choice_${name}`)]));
  const rules = choice("player_rules", [["", t("player_rules_all")], ...known], query.get("rules") ?? "");
  const room = el("input", { value: query.get("room") ?? "", maxlength: 600, size: 12, autocomplete: "off" });
  const place = el("div", { "aria-live": "polite" });
  let newest = 0; // counts the requests: only the answer to the last one is shown
  const show = async () => {
    const request = ++newest;
    const days = Number(period.select.value);
    const since = days ? new Date(Date.now() - days * DAY).toISOString() : "";
    const given = { rules: rules.select.value, room: room.value.trim() };
    const chosen = new URLSearchParams(filled({ ...given, days: days ? String(days) : "" }));
    history.replaceState(null, "", chosen.size ? `?${chosen}` : location.pathname);
    const found = await get(`${path}/statistics?${new URLSearchParams(filled({ ...given, since }))}`);
    if (request === newest) place.replaceChildren(...statisticsTable(found));
  };
  const form = el(
    "form",
    { class: "row", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    period.label,
    rules.label,
    el("label", {}, t("player_room"), room),
  );
  form.addEventListener("change", () => show().catch((error) => showError(error.message)));
  await show();
  return section("player_statistics", form, place, el("p", { class: "muted" }, t("player_of_latest")));
}

/** Those of some values that are not empty. @param {Record<string, string>} values */
function filled(values) {
  return Object.entries(values).filter(([, value]) => value !== "");
}

// Opponents and games --------------------------------------------------------------------------------------------------

/** @param {string} path of the player in the API @param {string} name */
async function opponentsSection(path, name) {
  const body = el("tbody");
  const { button, load } = pages(`${path}/opponents?limit=${OPPONENTS}`, (/** @type {Opponent[]} */ opponents) => {
    body.append(...opponents.map(opponentRow));
  });
  await load();
  if (!body.firstChild) return section("player_opponents", el("p", {}, t("player_alone")));
  const head = tableHead([
    [t("player_opponent"), ""],
    [t("players_games"), "number"],
    [t("player_better"), "number"],
    [t("player_difference"), "number"],
  ]);
  const help = el("p", { class: "muted" }, t("player_difference_help", { name }));
  const table = scrolled(t("player_opponents"), el("table", { class: "list" }, head, body));
  return section("player_opponents", table, button, help);
}

/** @param {Opponent} opponent */
function opponentRow({ name, games: n, better, mean_rank_difference: difference }) {
  const colour = difference < 0 ? "good" : difference > 0 ? "bad" : "";
  return el(
    "tr",
    {},
    el("th", { scope: "row", class: "player-cell" }, playerLink(name)),
    el("td", { class: "number" }, number(n)),
    el("td", { class: "number" }, percent(better / n)),
    el("td", { class: `number ${colour}` }, signed(difference, 2)),
  );
}

/** @param {string} name */
async function gamesSection(name) {
  const list = el("ul", { class: "player-games" });
  const path = `/api/games?${new URLSearchParams({ player: name, limit: String(GAMES) })}`;
  const { button, load } = pages(path, (/** @type {Game[]} */ found) => {
    list.append(...found.map((game) => gameRow(game, name)));
  });
  await load();
  return section("player_latest", list, button);
}

/** @param {Game} game @param {string} name */
function gameRow(game, name) {
  const seats = game.seats.toSorted((one, other) => one.rank - other.rank);
  const results = seats.map((seat) => {
    const own = seat.name === name;
    const shown = own ? el("strong", { class: "player-name" }, seat.name) : playerLink(seat.name);
    const score = el("span", { class: "number" }, number(seat.score));
    return el(
      "li",
      { class: own ? "own" : "" },
      el("span", { class: `placement placement-${seat.rank}` }, seat.rank),
      shown,
      score,
    );
  });
  const date = dateText(game.finished, true);
  const link = el("a", { href: `/games/${game.id}` }, date);
  const unrated = !game.rated && el("span", { class: "chip" }, t("room_unrated"));
  return el(
    "li",
    {},
    el("div", { class: "row" }, link, el("span", { class: "chip" }, game.room), unrated),
    el("ol", {}, results),
  );
}

async function start() {
  const name = subject();
  const main = startPage(name);
  const path = `/api/players/${encodeURIComponent(name)}`;
  /** @type {Player} */
  const player = await get(path);
  main.append(heading(player));
  const [rating, statistics, opponents, latest, review] = await Promise.all([
    ratingSection(path, player),
    statisticsSection(path),
    opponentsSection(path, name),
    gamesSection(name),
    reviewForm(path, player.games),
  ]);
  main.append(rating, el("div", { class: "player-columns" }, statistics, el("div", {}, opponents, latest)));
  main.append(section("player_review", ...review));
}

start().catch((error) => {
  showError(error.message);
  document.querySelector("main")?.append(el("a", { class: "button", href: "/players" }, t("players")));
});
