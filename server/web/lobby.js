/** The lobby: play now, games being played, rooms, results, the ladder, and how to connect a bot. */

import { get } from "./api.js";
import { connect } from "./connect.js";
import { el, setAttribute, setText } from "./dom.js";
import { dateText, number, signed } from "./format.js";
import { startPage } from "./page.js";
import { playNow } from "./play_now.js";
import { poll } from "./poll.js";
import { gameText, playPath, shortTexts } from "./room_settings.js";
import { rows } from "./rows.js";
import { watchBots } from "./watch_bots.js";
import { language, t } from "./words.js";
import "./words_lobby.js";

/** @typedef {import("./api.js").ServerInfo} ServerInfo */
/** @typedef {{name: string, house_bot: boolean, score: number}} Seat */
/** @typedef {{name: string, house_bot: boolean, score: number, rank: number, points: number}} SeatResult */
/** @typedef {{id: string, room: string, rules: string, length: string, rounds: number}} Game */
/** @typedef {Game & {seats: Seat[], casual: boolean}} LiveGame */
/** @typedef {Game & {seats: SeatResult[], finished: string, rated: boolean}} FinishedGame */
/** @typedef {{name: string, settings: Record<string, any>, waiting_names: string[], permanent: boolean}} Room */

const EVERY = 3; // seconds between two looks
const RESULTS_EVERY = 5; // looks between two looks at results and the ladder, if no game has ended in the meantime
const LIVE = 20; // games being played that are shown
const ROOMS = 200; // that are looked through
const RESULTS = 10; // results that are shown at first, and that are added
const MOST_RESULTS = 200;
const PLAYERS = 10;
const ALL_POINTS = 105000;
const STEPS = /** @type {[Intl.RelativeTimeFormatUnit, number][]} */ ([
  ["second", 60],
  ["minute", 60],
  ["hour", 24],
  ["day", Infinity],
]);

const room = new URLSearchParams(location.search).get("room"); // whose games are shown; null: all
const ofRoom = room === null ? "" : `&room=${encodeURIComponent(room)}`;

/** A card with a heading. @param {string} name @param {...(Node | string)} children */
function card(name, ...children) {
  return el(
    "section",
    { class: `card lobby-${name}`, "aria-labelledby": `lobby-${name}` },
    el("h2", { id: `lobby-${name}` }, t(`lobby_${name}`)),
    ...children,
  );
}

/**
 * A card with a list, and what is said where it is empty.
 * @template Item
 * @param {string} name
 * @param {(item: Item) => string} key
 * @param {() => import("./rows.js").Row<Item>} make
 * @param {...(Node | string)} more below the list
 * @returns {{element: HTMLElement, show: (items: Item[]) => void}}
 */
function listCard(name, key, make, ...more) {
  const list = el("ul", { class: "lobby-list" });
  const empty = el("p", { class: "muted", hidden: true }, t(`lobby_no_${name}`));
  const fill = rows(list, key, make);
  /** @param {Item[]} items */
  const show = (items) => {
    fill(items);
    empty.hidden = items.length > 0;
  };
  return { element: card(name, list, empty, ...more), show };
}

/** Names of a game's players, for labels. @param {Seat[]} seats */
function namesOf(seats) {
  return seats.map(({ name }) => name).join(", ");
}

/** A link to a player. @param {string} name */
function playerPath(name) {
  return `/players/${encodeURIComponent(name)}`;
}

/** The row of a game being played. @returns {import("./rows.js").Row<LiveGame>} */
function liveRow() {
  const info = el("span", { class: "muted" });
  const link = el("a", { class: "lobby-whole" }, t("lobby_watch"));
  const seats = [0, 1, 2].map(() => {
    const name = el("span", { class: "lobby-name" });
    const score = el("span", { class: "number" });
    return { name, score, element: el("li", {}, name, score) };
  });
  const list = el("ol", { class: "lobby-seats" }, ...seats.map(({ element }) => element));
  /** @param {LiveGame} game */
  const update = (game) => {
    const scores = game.seats.map(({ score }) => score);
    const best = Math.max(...scores);
    setText(
      info,
      [t("lobby_live_rounds", { n: game.rounds }), gameText(game.rules, game.length, !game.casual), game.room].join(
        " · ",
      ),
    );
    setAttribute(link, "href", `/games/${game.id}`);
    setAttribute(link, "aria-label", t("lobby_watch_game", { names: namesOf(game.seats) }));
    game.seats.forEach(({ name, score }, index) => {
      const seat = seats[index];
      setText(seat.name, name);
      setAttribute(seat.name, "title", name);
      setText(seat.score, number(score));
      seat.element.classList.toggle("leads", score === best && score > Math.min(...scores));
      seat.element.style.setProperty("--share", String(Math.max(0, Math.min(1, score / ALL_POINTS))));
    });
  };
  return { element: el("li", { class: "lobby-game" }, el("div", { class: "lobby-line" }, info, link), list), update };
}

/** The row of a room. @returns {import("./rows.js").Row<Room>} */
function roomRow() {
  const name = el("strong", { class: "lobby-name" });
  const texts = el("span", { class: "muted" });
  const waiting = el("span", { class: "lobby-waiting" });
  const link = el("a", { class: "button" }, t("lobby_sit"));
  /** @param {Room} item */
  const update = (item) => {
    setText(name, item.name);
    setText(texts, shortTexts(item.settings).join(" · "));
    const names = item.waiting_names;
    if (names.join("\n") !== waiting.dataset.names) {
      waiting.dataset.names = names.join("\n");
      const chips = names.map((who) => el("span", { class: "chip" }, who));
      waiting.replaceChildren(...chips, names.length ? ` ${t("lobby_waiting")}` : t("lobby_nobody"));
    }
    setAttribute(link, "href", playPath(item.name));
    setAttribute(link, "aria-label", t("lobby_sit_in", { name: item.name }));
  };
  const text = el("div", { class: "lobby-text" }, name, texts, waiting);
  return { element: el("li", { class: "lobby-room" }, text, link), update };
}

/** The row of a result. @returns {import("./rows.js").Row<FinishedGame>} */
function resultRow() {
  const time = el("time", {});
  const info = el("span", {});
  const replay = el("a", {}, t("lobby_replay"));
  const review = el("a", {}, t("lobby_review"));
  const list = el("ol", { class: "lobby-seats" });
  /** @param {FinishedGame} game */
  const update = (game) => {
    setText(time, ago(new Date(game.finished)));
    if (list.children.length) return; // a result does not change
    setAttribute(time, "datetime", game.finished);
    setAttribute(time, "title", dateText(game.finished, true));
    setText(info, ` · ${gameText(game.rules, game.length, game.rated)} · ${game.room}`);
    const names = namesOf(game.seats);
    setAttribute(replay, "href", `/games/${game.id}`);
    setAttribute(replay, "aria-label", t("lobby_replay_game", { names }));
    setAttribute(review, "href", `/games/${game.id}/review`);
    setAttribute(review, "aria-label", t("lobby_review_game", { names }));
    list.append(...game.seats.toSorted((a, b) => a.rank - b.rank).map(placed));
  };
  const links = el("span", { class: "lobby-links" }, replay, review);
  const line = el("div", { class: "lobby-line" }, el("span", { class: "muted" }, time, info), links);
  return { element: el("li", { class: "lobby-game" }, line, list), update };
}

/** A player of a finished game. @param {SeatResult} seat */
function placed({ rank, name, score, points }) {
  return el(
    "li",
    { class: rank === 1 ? "leads" : "" },
    el("span", { class: `lobby-rank rank-${rank}`, role: "img", "aria-label": t("lobby_place", { n: rank }) }, rank),
    el("a", { class: "lobby-name", href: playerPath(name), title: name }, name),
    el("span", { class: "number" }, number(score)),
    el(
      "span",
      { class: `number lobby-points ${points < 0 ? "bad" : "good"}`, title: t("lobby_points") },
      signed(points, 1),
    ),
  );
}

/** How long ago that was. @param {Date} time */
function ago(time) {
  let passed = Math.max(0, (Date.now() - time.getTime()) / 1000);
  const format = new Intl.RelativeTimeFormat(language(), { numeric: "auto", style: "short" });
  for (const [unit, many] of STEPS) {
    if (passed < many) return format.format(-Math.floor(passed), unit);
    passed /= many;
  }
  return "";
}

/** The row of a player on the ladder. @returns {import("./rows.js").Row<any>} */
function ladderRow() {
  const place = el("td", { class: "number" });
  const link = el("a", { class: "lobby-name" });
  const cells = [0, 1, 2].map(() => el("td", { class: "number" }));
  /** @param {any} player */
  const update = ({ place: n, name, rating, games, mean_rank }) => {
    setText(place, n);
    setText(link, name);
    setAttribute(link, "title", name);
    setAttribute(link, "href", playerPath(name));
    const numbers = [number(rating.ordinal, 1), number(games), number(mean_rank, 2)];
    for (const [index, cell] of cells.entries()) setText(cell, numbers[index]);
  };
  return { element: el("tr", {}, place, el("td", {}, link), ...cells), update };
}

/** The ladder's top. @returns {{element: HTMLElement, show: (players: any[]) => void}} */
function ladderCard() {
  const body = el("tbody", {});
  const titles = ["rank", "player", "rating", "games", "mean"].map((key) =>
    el("th", { scope: "col", class: key === "player" ? "" : "number" }, t(`lobby_${key}`)),
  );
  const table = el("table", { class: "list" }, el("thead", {}, el("tr", {}, titles)), body);
  const empty = el("p", { class: "muted", hidden: true }, t("lobby_no_players"));
  const fill = rows(body, ({ name }) => name, ladderRow);
  /** @param {any[]} players */
  const show = (players) => {
    fill(players.map((player, index) => ({ ...player, place: index + 1 })));
    empty.hidden = players.length > 0;
    table.hidden = !empty.hidden;
  };
  const all = el("p", {}, el("a", { href: "/players" }, t("lobby_all_players")));
  return { element: card("ladder", table, empty, all), show };
}

/** Draw the page without what the server has to tell. Returns the parts that change. */
function layout() {
  const main = startPage(t("lobby"));
  const trouble = el("p", { class: "trouble muted", role: "status" });
  const moreLive = el("p", { class: "muted", hidden: true }, t("lobby_more_live", { n: LIVE }));
  const more = el("button", { class: "quiet", hidden: true }, t("lobby_more"));
  const live = listCard("live", (/** @type {LiveGame} */ { id }) => id, liveRow, moreLive);
  const results = listCard("results", (/** @type {FinishedGame} */ { id }) => id, resultRow, more);
  const allRooms = el("p", {}, el("a", { href: "/rooms" }, t("lobby_all_rooms")));
  const rooms = listCard("rooms", (/** @type {Room} */ { name }) => name, roomRow, allRooms);
  const ladder = ladderCard();
  const play = playNow();
  const puzzle = el("p", {}, el("a", { href: "/puzzle" }, t("lobby_puzzle")));
  const bots = card("connect");
  const title = room === null ? t("lobby_title") : t("lobby_of_room", { name: room });
  const back = room === null ? [] : [el("p", {}, el("a", { href: "/" }, t("lobby_of_all")))];
  const columns =
    room === null
      ? [
          el("div", {}, card("play_now", play.element), puzzle, live.element, rooms.element, results.element),
          el("div", {}, ladder.element, bots),
        ]
      : [el("div", {}, live.element, results.element)];
  main.append(el("h1", {}, title), ...back, trouble, el("div", { class: "lobby" }, columns));
  return { trouble, play, puzzle, live, moreLive, rooms, results, more, ladder, bots };
}

/** Fill the page, and keep it up to date. */
function start() {
  const { trouble, play, puzzle, live, moreLive, rooms, results, more, ladder, bots } = layout();
  /** @type {ServerInfo | null} */
  let server = null;
  let nResults = RESULTS;
  let looks = 0; // until the next look at results and the ladder
  /** @type {string[]} */
  let playing = [];

  async function look() {
    if (server === null) {
      server = /** @type {ServerInfo} */ (await get("/api/server"));
      play.show(server);
      puzzle.hidden = !server.puzzle;
      if (room === null) live.element.append(watchBots(server));
      bots.append(connect(server));
    }
    const [games, open] = await Promise.all([
      get(`/api/games?status=playing&limit=${LIVE}${ofRoom}`),
      get(`/api/rooms?limit=${ROOMS}`),
    ]);
    live.show(games.items);
    moreLive.hidden = games.next_cursor === null;
    rooms.show(open.items.filter((/** @type {Room} */ item) => item.permanent || item.waiting_names.length));
    const ids = games.items.map((/** @type {LiveGame} */ { id }) => id);
    if (!playing.every((id) => ids.includes(id))) looks = 0; // a game has ended
    playing = ids;
    if (looks > 0) {
      looks -= 1;
      return;
    }
    looks = RESULTS_EVERY; // before they are read: the button for more may set it back in the meantime
    try {
      await lookAtResults();
    } catch (error) {
      looks = 0;
      throw error;
    }
  }

  async function lookAtResults() {
    const [games, players] = await Promise.all([
      get(`/api/games?limit=${nResults}${ofRoom}`),
      get(`/api/players?order=rating&limit=${PLAYERS}`),
    ]);
    results.show(games.items);
    ladder.show(players.items.filter((/** @type {any} */ { rated_games }) => rated_games > 0));
    more.hidden = games.next_cursor === null || nResults >= MOST_RESULTS;
  }

  const again = poll(look, EVERY, (text) => setText(trouble, text));
  more.addEventListener("click", () => {
    nResults = Math.min(nResults + RESULTS, MOST_RESULTS);
    looks = 0;
    again();
  });
}

start();
