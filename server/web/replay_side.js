/** What stands beside a replay: the bot's note, scores, downloads and links. */

import { actionOf, isSame, readNote } from "./annotations.js";
import { request } from "./api.js";
import { el } from "./dom.js";
import { changeText } from "./replay_scores.js";
import { resultPanel } from "./result.js";
import { shortRoundName } from "./table_words.js";
import { tile } from "./tile.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./record.js").Timeline} Timeline */

/** The formats of downloads, and what they are called. */
const FORMATS = { mjson: "mjai", tenhou: "tenhou.net/6", libriichi3p: "mjai (libriichi3p)", kita: "mjai (kita)" };
const VIEWER = "https://tenhou.net/5/#json="; // as `engine.records.viewer`

/**
 * What a bot said of the action it takes next.
 * @param {Message} message the action, with `ext_bot`
 * @param {string} name of the player
 * @returns {HTMLElement}
 */
export function notePanel(message, name) {
  const { choices, facts } = readNote(message.ext_bot);
  const played = actionOf(message);
  const rows = choices.map(({ action, height, text }) => {
    const bar = el("span", { class: "note-bar" });
    bar.style.setProperty("--value", String(height));
    const what = action.type === "dahai" ? tile(action.tile) : t(`replay_${action.type}`);
    const isPlayed = isSame(action, played);
    const mark = isPlayed && el("span", { class: "note-played" }, t("replay_played"));
    return el("li", { class: isPlayed ? "played" : null }, el("span", { class: "note-action" }, what), bar, text, mark);
  });
  return el(
    "section",
    { class: "note" },
    el("h2", {}, t("replay_note", { name })),
    rows.length > 0 && el("ol", {}, rows),
    facts.length > 0 &&
      el(
        "dl",
        {},
        facts.map(([key, value]) => el("div", {}, el("dt", {}, key), el("dd", {}, value))),
      ),
  );
}

/**
 * The result of a round. Records of some formats know neither yaku nor hands: then who has won how much.
 * @param {State} state after `end_kyoku`
 * @returns {HTMLElement}
 */
export function roundResult(state) {
  const { wins, draw, seats } = state;
  if (wins.every(({ yakus }) => yakus) && (!draw || draw.tehais)) {
    const shown = wins.map((win) => ({ hora_tehais: seats[win.actor].hand, ...win }));
    return resultPanel({ ...state, wins: shown });
  }
  const results = draw ? [draw] : wins;
  const rows = seats.map(({ name }, seat) => {
    const change = results.reduce((sum, { deltas }) => sum + deltas[seat], 0);
    return el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, changeText(change)));
  });
  const title = draw
    ? t("replay_draw")
    : t("replay_won", { name: wins.map(({ actor }) => seats[actor].name).join(", ") });
  return el("section", { class: "result" }, el("h2", {}, title), el("table", {}, el("tbody", {}, rows)));
}

/**
 * Downloads of a finished game, and its rounds in Tenhou's own viewer.
 * @param {string} game id
 * @param {Timeline} timeline
 * @returns {HTMLElement}
 */
export function recordPanel(game, timeline) {
  const path = `/api/games/${encodeURIComponent(game)}/record`;
  const downloads = Object.entries(FORMATS).map(([format, name]) =>
    el("li", {}, el("a", { href: `${path}?format=${format}`, download: true }, name)),
  );
  const links = el("ul", { class: "links tenhou" });
  const make = async () => {
    button.disabled = true;
    const found = await (await request(`${path}?format=tenhou`)).json();
    links.replaceChildren(...viewerLinks(found, timeline));
  };
  const button = el(
    "button",
    { type: "button", onclick: () => make().finally(() => (button.disabled = false)) },
    t("replay_tenhou_get"),
  );
  links.append(el("li", {}, button));
  return el(
    "section",
    { class: "record" },
    el("h2", {}, t("replay_record")),
    el("h3", {}, t("replay_download")),
    el("ul", { class: "links" }, downloads),
    el("h3", {}, t("replay_tenhou")),
    links,
  );
}

/**
 * A link for each round; the round itself is in the address. No request is made before somebody follows one.
 * @param {Record<string, any>} document the game as tenhou.net/6 JSON
 * @param {Timeline} timeline
 */
function viewerLinks({ title, name, rule, log }, { rounds }) {
  return rounds.map(({ round }, index) => {
    const json = JSON.stringify({ title, name, rule, log: [log[index]] });
    const href = VIEWER + encodeURIComponent(json);
    return el("li", {}, el("a", { href, target: "_blank", rel: "noreferrer" }, shortRoundName(round)));
  });
}
