/** The element `<nuki-replay>`: a table, and the controls to move through a game, finished or still being played. */

import "./table.js";
import "./words_game.js";
import { actionOf, marksOf, readNote } from "./annotations.js";
import { el } from "./dom.js";
import { keyName } from "./keys.js";
import { lastTurn, positionAddress, positionOf } from "./position_text.js";
import { Timeline } from "./record.js";
import { iconButton, RoundList, SeekBar, setIcon } from "./replay_controls.js";
import { copyButton, readFragment, writeFragment, writeNow } from "./replay_place.js";
import { ScorePanel } from "./replay_scores.js";
import { notePanel, recordPanel, roundResult } from "./replay_side.js";
import { WallPanel } from "./replay_wall.js";
import { finalPanel } from "./result.js";
import { shortRoundName } from "./table_words.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */

/**
 * @typedef {object} ReplayOptions
 * @property {"" | "closed" | "open"} live whether the game is still played, and what is seen of it
 * @property {string} game id of a finished game, "" for none: downloads and the review are linked
 * @property {boolean} linked whether the place is kept in the URL
 * @property {import("./replay_wall.js").ReadWalls} walls null: they are not known, or must not be
 */

const SPEEDS = [0.5, 1, 2, 4, 8];
const EVENT = 800; // milliseconds that an event is shown at speed 1
const LONGER = new Set(["hora", "ryukyoku", "end_kyoku"]); // shown four times as long
const NO_MARKS = {}; // the same one, so that the table need not draw the hand again
/** Messages over which a result is shown. @type {Record<string, (state: import("./mjai.js").State) => HTMLElement>} */
const RESULTS = { end_kyoku: roundResult, end_game: finalPanel };

/** Keys, with `Shift+` for arrows. @type {Record<string, (replay: NukiReplay) => void>} */
const KEYS = {
  ArrowRight: (replay) => replay.step(1),
  ArrowLeft: (replay) => replay.step(-1),
  "Shift+ArrowRight": (replay) => replay.stepDecision(1),
  "Shift+ArrowLeft": (replay) => replay.stepDecision(-1),
  ArrowDown: (replay) => replay.stepRound(1),
  ArrowUp: (replay) => replay.stepRound(-1),
  Home: (replay) => replay.go(0),
  End: (replay) => replay.go(Infinity),
  " ": (replay) => replay.toggle(),
  1: (replay) => replay.sit(0),
  2: (replay) => replay.sit(1),
  3: (replay) => replay.sit(2),
  h: (replay) => replay.turnHands(),
  w: (replay) => replay.turnWall(),
  "?": (replay) => replay.turnHelp(),
};
const WRITABLE = "textarea, select, input:not([type=range], [type=checkbox]), [role=slider]";

export class NukiReplay extends HTMLElement {
  #timeline = new Timeline([]);
  /** @type {ReplayOptions} */
  #options = { live: "", game: "", linked: false, walls: null };
  #loaded = false;
  #results = -1; // rounds whose results are drawn
  #place = 0;
  #seat = 0;
  #open = true;
  #speed = 1;
  #playing = false;
  #timer = 0;

  #table = /** @type {import("./table.js").NukiTable} */ (document.createElement("nuki-table"));
  #below = el("div", { class: "replay-below" });
  #side = el("div", { class: "replay-side" });
  #note = el("div", { class: "replay-note" });
  #noNote = el("p", { class: "no-note" }, t("replay_no_note"));
  #seek = new SeekBar((place) => this.go(place));
  #list = new RoundList((place) => this.go(place));
  #playButton = iconButton("play", () => this.toggle());
  #where = el("output", { class: "replay-where" });
  #seats = el("div", { class: "segments seats", role: "group", "aria-label": t("replay_seat") });
  #hands = el("button", { type: "button", "data-control": "hands", onclick: () => this.turnHands() }, t("replay_open"));
  #wall = new WallPanel(() => this.#draw());
  /** @type {ScorePanel | null} null before the first round */
  #scores = null;
  #helpButton = el(
    "button",
    { type: "button", "data-control": "help", "aria-expanded": "false", onclick: () => this.turnHelp() },
    t("replay_help"),
  );
  #help = el("p", { class: "replay-keys", hidden: true }, t("replay_keys"));
  #links = el("div", { class: "replay-links" });
  #review = el("a", { class: "button" }, t("replay_review"));
  #analyse = el("a", { class: "button", "data-control": "analyse", hidden: true }, t("replay_analyse"));
  #listening = new AbortController();

  connectedCallback() {
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    this.append(
      el("div", { class: "replay-stage" }, this.#table, this.#below),
      this.#controls(),
      el("div", { class: "replay-aside" }, this.#wall.element, this.#note, this.#side),
    );
    document.addEventListener("keydown", (event) => this.#key(event), { signal });
    addEventListener("hashchange", () => this.#options.linked && this.#goToFragment(), { signal });
    addEventListener("pagehide", writeNow, { signal });
  }

  disconnectedCallback() {
    this.#listening.abort();
    this.#stop();
  }

  /**
   * Show a game from its beginning, from the place in the URL, or where it was shown before.
   * @param {Message[]} messages from `start_game` on, with `error` lines and `ext_bot`
   * @param {ReplayOptions} options
   */
  load(messages, options) {
    const before = this.#options;
    const atEnd = this.#place >= this.#timeline.last;
    this.#timeline = new Timeline(messages);
    this.#options = options;
    this.#wall.load(options.walls);
    this.#seek.clear();
    this.#list.clear();
    this.#results = -1;
    if (!this.#loaded) this.#readFragment();
    this.#update();
    if (options.live === "open" && before.live !== "open") this.#playLastRound();
    else if (options.live === "closed" && (!this.#loaded || atEnd)) this.go(Infinity);
    else if (this.#loaded || !options.linked) this.go(this.#place);
    else this.#goToFragment();
    this.#loaded = true;
  }

  /** What is shown. */
  get timeline() {
    return this.#timeline;
  }

  /** What happened since; shown at once where the last place was shown. @param {Message[]} messages */
  add(messages) {
    const atEnd = this.#place >= this.#timeline.last;
    this.#timeline.append(messages);
    this.#update();
    if (this.#options.live === "closed" && atEnd) this.go(Infinity);
    else if (this.#playing && !this.#timer) this.#play();
    else this.#draw();
  }

  /** @param {number} place brought to one that exists */
  go(place) {
    this.#place = Math.max(0, Math.min(place, this.#timeline.last));
    this.#draw();
    if (this.#playing) this.#play();
  }

  /** @param {number} by places */
  step(by) {
    this.go(this.#place + by);
  }

  /** @param {1 | -1} direction to a decision of the seat at the bottom */
  stepDecision(direction) {
    this.go(this.#timeline.nextDecision(this.#place, this.#seat, direction));
  }

  /** @param {1 | -1} direction */
  stepRound(direction) {
    this.go(this.#timeline.nextRound(this.#place, direction));
  }

  /** Play, or pause. */
  toggle() {
    if (this.#playing) this.#stop();
    else this.#play();
  }

  /** @param {number} seat to show at the bottom */
  sit(seat) {
    this.#seat = seat;
    this.#draw();
  }

  /** Open the hands or close them. Of a game being played that is another stream: dispatches `hands`. */
  turnHands() {
    const { live } = this.#options;
    if (live) this.dispatchEvent(new CustomEvent("hands", { detail: live === "open" ? "closed" : "open" }));
    else {
      this.#open = !this.#open;
      this.#draw();
    }
  }

  /** Show what would have come, or hide it. */
  turnWall() {
    this.#wall.turn();
  }

  /** Show the keys or hide them. @param {boolean} [shown] */
  turnHelp(shown = Boolean(this.#help.hidden)) {
    this.#help.hidden = !shown;
    this.#helpButton.setAttribute("aria-expanded", String(shown));
  }

  #controls() {
    const speed = el(
      "select",
      { "aria-label": t("replay_speed"), onchange: () => (this.#speed = Number(speed.value)) },
      SPEEDS.map((value) => el("option", { value, selected: value === this.#speed }, `${value}×`)),
    );
    const buttons = el(
      "div",
      { class: "replay-buttons", role: "group", "aria-label": t("replay_controls") },
      iconButton("previous_round", () => this.stepRound(-1)),
      iconButton("previous_decision", () => this.stepDecision(-1)),
      iconButton("back", () => this.step(-1)),
      this.#playButton,
      iconButton("step", () => this.step(1)),
      iconButton("next_decision", () => this.stepDecision(1)),
      iconButton("next_round", () => this.stepRound(1)),
    );
    const buttonsBelow = [this.#hands, this.#wall.button, this.#helpButton, this.#analyse, this.#links];
    const second = el("div", { class: "replay-settings" }, speed, this.#seats, ...buttonsBelow);
    const first = el("div", { class: "replay-moves" }, buttons, this.#where, this.#list.element);
    return el("div", { class: "replay-controls" }, this.#seek.element, first, second, this.#help);
  }

  /** Draw what depends on the whole game and not on the place. */
  #update() {
    this.#seek.update(this.#timeline);
    this.#list.update(this.#timeline);
    this.#note.hidden = !this.#timeline.hasNotes;
    if (this.#seats.childElementCount === 0) this.#seats.append(...this.#timeline.latest.seats.map(this.#seatButton));
    if (this.#timeline.results.length !== this.#results) this.#drawSide();
  }

  /** @param {import("./mjai.js").Seat} seat @param {number} index */
  #seatButton = ({ name }, index) => {
    const attributes = { type: "button", title: name, "data-seat": index, onclick: () => this.sit(index) };
    return el("button", attributes, `${index + 1} ${name}`);
  };

  /** Draw what changes with each round. */
  #drawSide() {
    const { game, live } = this.#options;
    const { results, rounds } = this.#timeline;
    this.#results = results.length;
    const chosen = this.#scores?.element.contains(document.activeElement);
    const go = (/** @type {number} */ place) => this.go(place);
    this.#scores = rounds.length ? new ScorePanel(this.#timeline, go, () => this.#draw()) : null;
    const last = live && results.at(-1);
    this.#side.replaceChildren(
      ...(last
        ? [el("section", { class: "last-round" }, el("h2", {}, t("replay_last_round")), roundResult(last))]
        : []),
      ...(this.#scores ? [this.#scores.element] : []),
      ...(game && !live ? [recordPanel(game, this.#timeline)] : []),
    );
    if (chosen) this.#scores?.focus();
    this.#links.replaceChildren(...(game && !live ? [copyButton(), this.#review] : []));
  }

  #draw() {
    const timeline = this.#timeline;
    const { live } = this.#options;
    this.#hands.setAttribute("aria-pressed", String(live ? live === "open" : this.#open));
    for (const [seat, button] of [...this.#seats.children].entries()) {
      button.setAttribute("aria-pressed", String(seat === this.#seat));
    }
    const place = timeline.places[this.#place];
    if (!place) {
      this.#table.show(timeline.latest, { bottom: this.#seat, open: true });
      return;
    }
    const { first, round } = timeline.rounds[place.round];
    const step = this.#place - first;
    const end = (timeline.rounds[place.round + 1]?.first ?? timeline.last + 1) - 1 - first;
    Object.assign(this.dataset, { place: this.#place, round: place.round, step, seat: this.#seat });
    const where = t("replay_place", { round: shortRoundName(round), step, steps: end });
    this.#where.textContent = where;
    this.#seek.show(this.#place, where, this.#scores?.whole ? timeline.last : this.#place);
    this.#list.show(place.round);
    this.#scores?.show(this.#place);
    this.#drawTable(place.state);
    this.#drawBelow(place);
    this.#wall.show(timeline, this.#place, this.#seat);
    this.#link(place.round, step);
    this.#linkAnalysis(first);
  }

  /** @param {import("./mjai.js").State} state */
  #drawTable(state) {
    const action = this.#timeline.decision(this.#place);
    const open = this.#open || this.#options.live !== "";
    const isSaid = action?.ext_bot !== undefined && (open || action.actor === this.#seat);
    const seat = action && isSaid && action.actor === this.#seat ? state.seats[this.#seat] : null;
    const marks = action && seat ? marksOf(readNote(action.ext_bot).choices, actionOf(action), seat) : NO_MARKS;
    this.#table.show(state, { bottom: this.#seat, open, marks });
    const note = action && isSaid ? notePanel(action, state.seats[action.actor].name) : this.#noNote;
    this.#note.replaceChildren(note);
  }

  /** Faults, the result of the round, why it ends here. @param {import("./record.js").Place} place */
  #drawBelow({ message, state, broken: problem }) {
    const timeline = this.#timeline;
    const faults = timeline.faults(this.#place).map((text) => el("p", { class: "fault" }, t("replay_fault", { text })));
    const result = RESULTS[message.type] ? [RESULTS[message.type](state)] : [];
    const broken = problem ? [el("p", { class: "fault" }, t("replay_broken", { problem }))] : [];
    this.#below.replaceChildren(...faults, ...broken, ...result);
  }

  /** @param {number} round @param {number} step */
  #link(round, step) {
    const { game, live, linked } = this.#options;
    const message = this.#place + 1; // start_game is no place
    this.#review.href = `/games/${encodeURIComponent(game)}/review#seat=${this.#seat}&at=${message}`;
    if (!linked) return;
    const hands = live || (this.#open ? "open" : "closed");
    writeFragment(live ? { seat: this.#seat, hands } : { round, step, seat: this.#seat, hands });
  }

  /** Link the analysis of the last turn, where its hand is known. @param {number} first place of the round */
  #linkAnalysis(first) {
    const places = this.#timeline.places.slice(first, this.#place + 1);
    const messages = places.map(({ message }) => message);
    const turn = lastTurn(messages);
    const found = turn < 0 ? null : positionOf(places[turn].state, messages.slice(0, turn + 1), messages[turn].actor);
    this.#analyse.hidden = !found;
    if (found) this.#analyse.href = positionAddress(found);
  }

  #readFragment() {
    if (!this.#options.linked) return;
    const { seat, open } = readFragment();
    this.#seat = seat;
    this.#open = open ?? true;
  }

  #goToFragment() {
    this.#readFragment();
    const { round, step } = readFragment();
    this.go(round < 0 ? 0 : this.#timeline.placeOf(round, step));
  }

  #playLastRound() {
    this.#setPlaying(true);
    this.go(this.#timeline.rounds.at(-1)?.first ?? 0);
  }

  /** Go on, one place after the other; at the end of a game still being played, wait for more. */
  #play() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const ended = this.#place >= this.#timeline.last;
    if (ended && !this.#options.live) return this.#stop();
    this.#setPlaying(true);
    if (ended) return;
    const { type } = this.#timeline.places[this.#place].message;
    this.#timer = setTimeout(() => this.step(1), ((LONGER.has(type) ? 4 : 1) * EVENT) / this.#speed);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#setPlaying(false);
  }

  /** @param {boolean} playing */
  #setPlaying(playing) {
    if (playing === this.#playing) return;
    this.#playing = playing;
    setIcon(this.#playButton, playing ? "pause" : "play");
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest(WRITABLE)) return;
    if (event.key === "Escape") return this.turnHelp(false);
    if (event.key === " " && target.closest("button, a, summary, [type=checkbox]")) return; // it presses that
    const act = KEYS[keyName(event)];
    if (!act) return;
    event.preventDefault();
    act(this);
  }
}

customElements.define("nuki-replay", NukiReplay);
