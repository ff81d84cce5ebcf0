/** A tournament: its standings, every two entrants compared, and its schedule with links to its games. */

import { get, socketAddress } from "./api.js";
import { el, setText } from "./dom.js";
import { number, percent, signed } from "./format.js";
import { startPage, subject } from "./page.js";
import { placementBar, playerLink, scrolled, tableHead, unseenHead } from "./player_parts.js";
import { poll } from "./poll.js";
import { chips, progress, turned } from "./tournament_parts.js";
import { t } from "./words.js";
import "./words_players.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */
/** @typedef {{mean: number, interval: number | null}} Estimate */

/**
 * @typedef {object} Entrant
 * @property {string} name
 * @property {boolean} house_bot
 * @property {boolean} here
 * @property {boolean} failed
 * @property {number} taken_over
 * @property {number} games
 * @property {Estimate | null} rating null before the first game
 * @property {Estimate} placement
 * @property {number} first
 * @property {number} second
 * @property {number} third
 */

/** @typedef {{bot: string, against: string, games: number, ahead: Estimate}} Pair */
/** @typedef {import("./tournament_parts.js").Info & {over: boolean, places: number, standings: Entrant[], pairs: Pair[]}} Details */

/**
 * @typedef {object} Game of the schedule
 * @property {number} number
 * @property {number} wall
 * @property {string[]} seats
 * @property {string} game
 * @property {"due" | "playing" | "finished"} status
 * @property {number[] | null} rank
 * @property {number[] | null} score
 * @property {boolean[] | null} taken_over
 */

const EVERY = 3; // seconds between two looks; once it is over, there is one
const WIDEST_PLACEMENT = 1; // of an interval around a placement from 1 to 3
const WIDEST_SHARE = 0.5; // and around a share
const LIMIT = 30; // games on a page
const SHOWN = ["all", "playing", "finished", "due"]; // choices of games

const name = subject();
const path = `/api/tournaments/${encodeURIComponent(name)}`;

/**
 * The half-width of an interval, null where it says nothing: of one wall, or as wide as the scale.
 * @param {Estimate} estimate
 * @param {number} widest half the width of the scale
 */
function halfWidth({ interval }, widest) {
  return interval !== null && interval < widest ? interval : null;
}

/** An estimate with its interval. @param {number} mean @param {number | null} around @param {(value: number) => string} text */
function estimated(mean, around, text) {
  const interval = around === null ? "–" : text(around).replace("+", "");
  return [el("strong", {}, text(mean)), el("span", { class: "muted" }, ` ± ${interval}`)];
}

/** A row of the standings. @param {Entrant} entrant @param {number} index @param {boolean} over */
function standing(entrant, index, over) {
  const { name: who, house_bot, here, failed, taken_over, games, rating, placement } = entrant;
  const notes = [failed ? t("tour_failed") : taken_over ? t("tour_taken", { n: taken_over }) : ""];
  const state = t(here ? "tour_here" : "tour_away");
  const dot = el("span", { class: here ? "tour-here" : "tour-away", role: "img", "aria-label": state, title: state });
  const note = notes[0] && el("abbr", { class: "bad", title: notes[0], tabindex: 0, "aria-label": notes[0] }, "!");
  const around = rating && halfWidth(placement, WIDEST_PLACEMENT);
  const points = rating && around !== null ? rating.interval : null; // of the same walls
  const cells = rating
    ? [
        el("td", { class: "number" }, ...estimated(rating.mean, points, (value) => signed(value, 0))),
        el("td", { class: "number" }, ...estimated(placement.mean, around, (value) => number(value, 2))),
        el("td", { class: "placements-cell wide" }, placementBar(counts(entrant))),
      ]
    : [el("td", { colspan: 2 }), el("td", { class: "wide" })];
  return el(
    "tr",
    {},
    el("td", { class: "number" }, rating ? index + 1 : ""),
    el("th", { scope: "row", class: "tour-name" }, !over && !house_bot && dot, playerLink(who), note),
    ...cells,
    el("td", { class: "number wide" }, number(games)),
  );
}

/** How often an entrant came first, second and third. @param {Entrant} entrant */
function counts({ first, second, third, games }) {
  return { firsts: first * games, seconds: second * games, thirds: third * games };
}

/** A table that may be wider than the page. @param {string} label @param {...Node} parts */
function wide(label, ...parts) {
  return scrolled(label, el("table", { class: "list tour-table" }, ...parts));
}

/** What the signs in the standings mean: for whom house bots have played. @param {Details} details */
function takenNotes({ standings: all }) {
  const failed = all.filter((entrant) => entrant.failed).map((entrant) => entrant.name);
  const taken = all.filter((entrant) => entrant.taken_over && !entrant.failed);
  const counted = taken.map((entrant) => `${entrant.name} (${number(entrant.taken_over)})`);
  return [
    failed.length > 0 && el("p", {}, t("tour_failed_note", { names: failed.join(", ") })),
    counted.length > 0 && el("p", { class: "muted" }, t("tour_taken_note", { names: counted.join(", ") })),
  ].filter((line) => line !== false);
}

/** The standings. @param {Details} details */
function standings({ standings: all, over }) {
  const head = tableHead([
    [t("tour_rank"), "number"],
    [t("tour_entrant"), ""],
    [t("tour_rating"), "number"],
    [t("tour_placement"), "number"],
    [t("tour_placements"), "wide"],
    [t("tour_games"), "number wide"],
  ]);
  return wide(t("tour_standings"), head, el("tbody", {}, ...all.map((each, index) => standing(each, index, over))));
}

/** Every two entrants compared. @param {Details} details */
function pairs({ standings: all, pairs: found }) {
  const ranked = all.filter(({ rating }) => rating);
  const shares = new Map(found.map((pair) => [`${pair.bot}\n${pair.against}`, pair]));
  const head = tableHead([
    [unseenHead(t("tour_entrant")), ""],
    ...ranked.map((_, index) => /** @type {[string, string]} */ ([`${index + 1}`, "number"])),
  ]);
  const body = ranked.map(({ name: bot }, index) => {
    const cells = ranked.map(({ name: against }) => {
      const pair = shares.get(`${bot}\n${against}`);
      if (!pair) return el("td", { class: "number muted" }, bot === against ? "–" : "");
      const { mean } = pair.ahead;
      const around = halfWidth(pair.ahead, WIDEST_SHARE);
      const share = `${percent(mean)} ± ${percent(around)}`;
      const title = t("tour_pair", { bot, against, share, n: pair.games });
      const shown = el("span", { class: "tour-around" }, ` ± ${number(around && 100 * around, 1)}`);
      const cell = el("td", { class: "number tour-share", title }, number(100 * mean, 1), shown);
      cell.style.setProperty("--share", String(mean));
      return cell;
    });
    const who = el("span", { class: "player-name", title: bot }, `${index + 1} ${bot}`);
    return el("tr", {}, el("th", { scope: "row", class: "tour-name" }, who), ...cells);
  });
  return wide(t("tour_pairs"), head, el("tbody", {}, ...body));
}

/** A row of the schedule. @param {Game} game */
function scheduled({ number: index, wall, seats, game, status, rank, score, taken_over }) {
  const players = seats.map((who, seat) => {
    const title = taken_over?.[seat] ? t("tour_taken_over") : null;
    const place = rank && el("span", { class: `placement placement-${rank[seat]}` }, rank[seat]);
    const points = score && el("span", { class: "muted number" }, number(score[seat]));
    return el(
      "li",
      { title },
      place,
      el("span", { class: taken_over?.[seat] ? "tour-who tour-taken" : "tour-who" }, who),
      points,
    );
  });
  const word = status === "playing" ? "watch" : "replay";
  const label = t(`tour_${word}_game`, { n: index + 1 });
  const link =
    status !== "due" && el("a", { href: `/games/${game}`, "aria-label": label, class: "button" }, t(`tour_${word}`));
  return el(
    "tr",
    {},
    el("td", { class: "number" }, index + 1),
    el("td", { class: "number wide" }, wall + 1),
    el("td", {}, el("ol", { class: "tour-seats" }, players)),
    el("td", { class: "number" }, link),
  );
}

/** The line that says where bots join. @param {ServerInfo} server */
function joining({ mjai_port }) {
  const tcp = el("code", {}, `mjsonp://${location.hostname}:${mjai_port}/${name}`);
  return el("p", {}, t("tour_join"), " ", tcp, " · ", el("code", {}, socketAddress(`/mjai/${name}`)));
}

function start() {
  const main = startPage(name);
  const trouble = el("p", { class: "trouble muted", role: "status" });
  const told = el("p", { class: "rooms-chips" });
  const played = progress();
  const join = el("div", {});
  const result = el("p", { hidden: true }, el("a", { href: `${path}/result`, class: "button" }, t("tour_result")));
  const places = { standings: el("div", {}), pairs: el("div", {}) };
  const compared = el(
    "section",
    { hidden: true },
    el("h2", {}, t("tour_pairs")),
    el("p", { class: "muted" }, t("tour_pairs_explained")),
    places.pairs,
  );
  const explained = el("p", { class: "muted" }, t("tour_explained"));
  const schedule = el("section", { hidden: true }, el("h2", {}, t("tour_schedule")));
  const body = el("tbody");
  const empty = el("p", { class: "muted", hidden: true }, t("tour_no_games"));
  const legend = el("p", { class: "muted", hidden: true }, t("tour_taken_legend"));
  let shown = "all";
  let over = false;
  let stale = true; // what is shown, although it is over
  const { button, look, turnTo } = turned(
    () => `${path}/games?limit=${LIMIT}&status=${shown}`,
    ["tour_next", "tour_start"],
    (games) => {
      empty.hidden = games.length > 0;
      legend.hidden = !games.some(({ taken_over }) => taken_over?.includes(true));
      update("games", games, () => body.replaceChildren(...games.map(scheduled)));
    },
    () => {
      stale = true;
      again();
    },
  );
  const tabs = SHOWN.map((key) =>
    el(
      "button",
      { type: "button", "aria-pressed": String(key === shown), onclick: () => choose(key) },
      t(`tour_show_${key}`),
    ),
  );
  const head = tableHead([
    [t("tour_number"), "number"],
    [t("tour_wall"), "number wide"],
    [t("tour_seats"), ""],
    [unseenHead(t("tour_record")), ""],
  ]);
  schedule.append(
    el("div", { class: "row tour-tabs" }, ...tabs),
    wide(t("tour_schedule"), head, body),
    legend,
    empty,
    button,
  );
  main.append(el("h1", {}, name), told, trouble, join, played.element, result);
  main.append(el("section", {}, el("h2", {}, t("tour_standings")), places.standings, explained), compared, schedule);
  /** @type {Map<string, string>} */
  const drawn = new Map();
  const again = poll(turn, EVERY, (text) => setText(trouble, text));

  /** Draw only what has changed: nothing flickers or loses focus. @param {string} key @param {any} of @param {() => void} draw */
  function update(key, of, draw) {
    const text = JSON.stringify(of);
    if (drawn.get(key) === text) return;
    drawn.set(key, text);
    draw();
  }

  /** @param {string} key */
  function choose(key) {
    shown = key;
    tabs.forEach((tab, index) => {
      tab.setAttribute("aria-pressed", String(SHOWN[index] === key));
    });
    turnTo("");
  }

  async function turn() {
    if (over && !stale) return;
    stale = false; // another choice of games, meanwhile, sets it again
    try {
      await details();
      if (!schedule.hidden) await look();
    } catch (error) {
      stale = true;
      throw error;
    }
  }

  async function details() {
    const found = /** @type {Details} */ (await get(path));
    over = found.over;
    update("chips", { ...found, standings: 0, pairs: 0 }, () => told.replaceChildren(...chips(found, found.places)));
    played.update(found);
    update("standings", [found.standings, over], () =>
      places.standings.replaceChildren(standings(found), ...takenNotes(found)),
    );
    update("pairs", [found.pairs, found.standings], () => places.pairs.replaceChildren(pairs(found)));
    compared.hidden = found.pairs.length === 0;
    schedule.hidden = found.games === 0;
    result.hidden = !over;
    explained.hidden = found.pairs.length === 0;
    if (over || found.status === "cancelled") join.replaceChildren();
    else if (!join.children.length) join.append(joining(/** @type {ServerInfo} */ (await get("/api/server"))));
  }
}

start();
