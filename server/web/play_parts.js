/** Parts of the page where a person plays: its notes, dialogs and the line about waits. */

import { marksOf, readNote } from "./annotations.js";
import { el } from "./dom.js";
import { signed } from "./format.js";
import { nameInput } from "./own_name.js";
import { finalPanel, resultPanel } from "./result.js";
import { tile, tileName } from "./tile.js";
import { furiten, unseen, waitsAfterDiscards, waitsOf } from "./waits.js";
import { t } from "./words.js";
import "./words_game.js";

/** @typedef {import("./mjai.js").State} State */

const LEAST = 0.0005; // difference in placements that is shown as one
const NOTHING_PLAYED = { type: "", tile: "" };

/**
 * Show a line over the table, and what can be done about it; "" for none.
 * @param {HTMLElement} place
 * @param {string} text
 * @param {...HTMLElement} buttons
 */
export function note(place, text, ...buttons) {
  place.replaceChildren(...(text ? [el("p", { role: "status" }, text), ...buttons] : []));
}

/**
 * A form for the name, and the token where the server needs one.
 * @param {string} room
 * @param {boolean} withToken
 * @param {string} problem what was wrong with the last one, or ""
 * @param {(name: string, token: string) => void} join
 */
export function joinForm(room, withToken, problem, join) {
  const own = nameInput();
  const secret = el("input", { name: "token", type: "password", maxlength: 256, autocomplete: "off" });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    join(own.value.trim(), secret.value.trim());
  };
  return el(
    "form",
    { class: "join-form", onsubmit: submit },
    problem && el("p", { class: "join-problem", role: "alert" }, problem),
    el("label", {}, el("span", {}, t("play_name")), own, el("small", {}, t("play_name_hint"))),
    withToken && el("label", {}, el("span", {}, t("play_token")), secret, el("small", {}, t("play_token_hint"))),
    el("button", { class: "primary" }, t("play_join", { room })),
  );
}

/**
 * Show the result of a round.
 * @param {HTMLDialogElement} dialog
 * @param {State} state
 * @param {string} analysis address of that of the own last turn, "" for none
 */
export function resultDialog(dialog, state, analysis) {
  const go = el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, t("play_continue"));
  const link = analysis && el("a", { class: "button", href: analysis, target: "_blank" }, t("play_analyse"));
  open(dialog, resultPanel(state), el("footer", {}, go, link));
  go.focus({ preventScroll: true });
}

/**
 * Show the end of a game.
 * @param {HTMLDialogElement} dialog
 * @param {State} state
 * @param {string} text "" where the state knows the result
 * @param {string} game its id, "" if not known
 * @param {() => void} again
 */
export function gameOver(dialog, state, text, game, again) {
  const address = `/games/${encodeURIComponent(game)}`;
  const seat = Math.max(state.viewer, 0);
  const once = el("button", { type: "button", class: "primary", onclick: again }, t("play_again"));
  const links = [
    game && el("a", { class: "button", href: `${address}/review#seat=${seat}` }, t("play_review")),
    game && el("a", { class: "button", href: `${address}#seat=${seat}` }, t("play_replay")),
    el("a", { class: "button", href: "/" }, t("play_lobby")),
  ];
  const result = state.phase === "game_over" ? finalPanel(state) : el("p", {}, text);
  open(dialog, result, el("footer", {}, once, links));
  once.focus({ preventScroll: true });
}

/** @param {HTMLDialogElement} dialog @param {...HTMLElement} children */
function open(dialog, ...children) {
  dialog.replaceChildren(...children);
  if (!dialog.open) dialog.show();
  dialog.scrollTop = 0; // a closed one keeps how far it was scrolled
}

/**
 * @typedef {object} Hint what a house bot would do
 * @property {Record<string, import("./table.js").Mark>} marks at the tiles of the own hand
 * @property {HTMLElement[]} line the actions, best first
 */

/**
 * Read the server's answer to a player who asks for a hint.
 * @param {import("./mjai.js").Message} message
 * @param {State} state
 * @returns {Hint | null} null where it says nothing
 */
export function readHint({ bot, actions }, state) {
  const { choices } = readNote({ actions });
  if (!choices.length) return null;
  const best = choices[0].value;
  const items = choices.map(({ action, value }, index) => {
    const what = action.type === "dahai" ? tile(action.tile) : t(`replay_${action.type}`);
    const behind = value > best - LEAST ? t("play_hint_equal") : signed(value - best, 3);
    return el("span", { class: "wait" }, what, index > 0 && el("span", {}, behind));
  });
  const label = el("span", { class: "waits-label" }, t("play_hint_of", { bot }));
  const line = el("span", { class: "play-hint", title: t("play_hint_values") }, label, items);
  return { marks: marksOf(choices, NOTHING_PLAYED, state.seats[state.viewer]), line: [line] };
}

/** Why a discard is safe or not. @param {import("./danger.js").Reason} reason @param {string} name of the opponent */
export function dangerText(reason, name) {
  return t("play_danger_against", { reason: t(`play_danger_${reason}`), name });
}

/** What the bars of the tiles mean, the safe ones first. @param {boolean} inRiichi whether an opponent is */
export function dangerLegend(inRiichi) {
  if (!inRiichi) return el("span", { class: "danger-legend" }, t("play_danger_none"));
  const items = [0, 1, 2, 3].map((level) =>
    el("span", { class: "danger-key" }, el("span", { class: `danger-${level}` }), t(`play_danger_level_${level}`)),
  );
  return el("span", { class: "danger-legend" }, items);
}

/**
 * The own waits, or those after a discard, and furiten.
 * @param {State} state
 * @param {import("./waits.js").Passed} passed
 * @param {string} after the discard pointed at, "" for none
 * @param {string} hint key of a line to show where there is no discard, "" for none
 * @returns {HTMLElement[]}
 */
export function waitsLine(state, passed, after, hint) {
  const seat = state.seats[state.viewer];
  if (!seat || state.phase !== "playing") return [];
  if (!after && hint) return [el("span", { class: "waits-hint" }, t(hint))];
  const found = after ? (waitsAfterDiscards(seat).get(after) ?? []) : waitsOf(seat);
  if (!found.length) return [];
  const label = after ? t("play_after", { tile: tileName(after) }) : t("play_waits");
  const tiles = found.map((kind) => {
    const left = unseen(state, kind);
    return el(
      "span",
      { class: "wait", title: t("play_left", { count: left }) },
      tile(kind),
      el("span", {}, `×${left}`),
    );
  });
  const why = after ? furitenAfter(state, found, after) : furiten(state, passed, found);
  const warning = why ? [el("strong", { class: "furiten" }, t(`play_furiten_${why}`))] : [];
  return [el("span", { class: "waits-label" }, label), ...tiles, ...warning];
}

/** Whether a discard leaves a furiten hand. @param {State} state @param {string[]} waiting @param {string} after */
function furitenAfter(state, waiting, after) {
  const seat = state.seats[state.viewer];
  const discard = { tile: after, tsumogiri: false, riichi: false, calledBy: -1 };
  const seats = state.seats.with(state.viewer, { ...seat, discards: [...seat.discards, discard] });
  const none = { offered: false, temporary: false, riichi: false };
  return furiten({ ...state, seats }, none, waiting);
}
