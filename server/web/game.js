/** The page of a game: live while it is played, its replay afterwards. */

import "./words_game.js";
import "./words_rooms.js";
import { ApiError, get } from "./api.js";
import { el } from "./dom.js";
import { dateText } from "./format.js";
import { spectate } from "./live.js";
import { setTitle, showError, startPage, subject } from "./page.js";
import { loadRecord } from "./record.js";
import { NukiReplay } from "./replay.js";
import { readFragment } from "./replay_place.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {"closed" | "open"} Hands */

const FIRST_WAIT = 500; // milliseconds before the first new attempt; doubled for each after it
const LONGEST_WAIT = 15_000;

const main = startPage(t("game_title"));
const id = subject();
const replay = new NukiReplay();
const heading = el("h1", { class: "hidden-text" }, t("game_title"));
const line = el("p", { class: "game-line", role: "status" }, t("game_loading"));
/** What is seen of the game while it is played. @type {Hands} */
let hands = readFragment().open ? "open" : "closed";
let connection = new AbortController();

replay.addEventListener("hands", (event) => {
  hands = /** @type {CustomEvent<Hands>} */ (event).detail;
  connection.abort();
});
main.classList.add("game");
main.append(heading, line);
follow();

/** Show the game until it is over and its replay is shown; a lost connection is made again. */
async function follow() {
  let wait = FIRST_WAIT;
  for (;;) {
    try {
      const game = await get(`/api/games/${encodeURIComponent(id)}`);
      if (game.status === "finished") return await showReplay(game);
      showLine(game);
      connection = new AbortController();
      const received = await listen(connection.signal);
      if (connection.signal.aborted) continue; // the other stream was chosen
      if (received) wait = FIRST_WAIT;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404) return replay.isConnected ? line.replaceChildren(t("game_not_kept")) : showUnknown();
      if (error.status && error.status < 500 && error.status !== 429) return showError(error.message);
      line.replaceChildren(t("game_lost"));
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LONGEST_WAIT);
  }
}

/**
 * Draw a game as its messages come, until the connection is closed.
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>} whether anything came
 */
async function listen(signal) {
  let received = false;
  const receive = (/** @type {Message[]} */ messages, /** @type {boolean} */ first) => {
    received = true;
    if (first) nameAfter(messages[0]);
    if (!replay.isConnected) main.append(replay);
    if (first) replay.load(messages, { live: hands, game: id, linked: true, walls: null });
    else replay.add(messages);
  };
  await spectate(id, hands, receive, signal);
  return received;
}

/** Name the page after the players. @param {Message} start `start_game` */
function nameAfter({ names }) {
  heading.textContent = t("game_of", { names: names.join(", ") });
  setTitle(heading.textContent);
}

/** @param {any} game being played */
function showLine({ room, rounds, casual, spectator_delay: seconds }) {
  const delay = seconds ? t("game_delay_seconds", { seconds }) : t("game_delay");
  const seen = hands === "closed" ? t("game_closed") : `${t("game_open")} (${delay})`;
  const waiting = hands === "open" && rounds === 0 && ` · ${t("game_waiting")}`;
  line.replaceChildren(
    el("strong", { class: "live" }, t("game_live")),
    ` ${t("game_room", { room })} · ${seen}`,
    casual ? ` · ${t("room_unrated")}` : "",
    waiting || "",
  );
}

/** @param {any} game finished */
async function showReplay({ room, finished, rated }) {
  const messages = await loadRecord(id);
  nameAfter(messages[0]);
  line.replaceChildren(
    `${t("game_room", { room })} · ${dateText(finished, true)}`,
    rated ? "" : ` · ${t("room_unrated")}`,
  );
  if (!replay.isConnected) main.append(replay);
  const readWalls = async () => (await get(`/api/games/${encodeURIComponent(id)}/walls`)).walls;
  const walls = messages[0]?.wall_seed === undefined ? null : readWalls; // their seed
  replay.load(messages, { live: "", game: id, linked: true, walls });
}

function showUnknown() {
  const links = [
    el("a", { class: "button", href: "/" }, t("game_to_lobby")),
    el("a", { class: "button", href: "/view" }, t("game_to_view")),
  ];
  main.replaceChildren(
    el(
      "section",
      { class: "unknown" },
      el("h1", {}, t("game_unknown")),
      el("p", {}, t("game_unknown_text", { id })),
      links,
    ),
  );
}
