/** The page where a person plays: `/rooms/NAME/play`. */

import { ApiError, get, post, request, setToken, token } from "./api.js";
import { Client } from "./client.js";
import { dangerMarks, followRiichi, NONE_PASSED } from "./danger.js";
import { el } from "./dom.js";
import { automatic, playable, replies, riichiDiscards } from "./legal.js";
import { apply, initial } from "./mjai.js";
import { ownName, setOwnName } from "./own_name.js";
import { clearError, showError, startPage, subject } from "./page.js";
import { Clock } from "./play_clock.js";
import { actionButtons, listenToKeys, Switches } from "./play_controls.js";
import { dangerLegend, dangerText, gameOver, joinForm, note, readHint, resultDialog, waitsLine } from "./play_parts.js";
import { Tools } from "./play_tools.js";
import { YakuPanel } from "./play_yaku.js";
import { lastTurn, positionAddress, positionOf } from "./position_text.js";
import { loadRecord } from "./record.js";
import { SITTING } from "./room_settings.js";
import { play } from "./sounds.js";
import { tabStorage } from "./storage.js";
import { NukiTable } from "./table.js";
import { followPassed, NOTHING_PASSED } from "./waits.js";
import { t } from "./words.js";
import "./words_play.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./play_parts.js").Hint} Hint */

const ROOM = "nukidora.room"; // key of the tab's last room, in its storage: the request that opens it again
const NO_MARKS = {}; // the same one, so that the table need not draw the hand again
const RESULT_TIME = 15_000; // ms that the result of a round is shown
/** @type {Record<string, import("./sounds.js").Sound>} */
const SOUNDS = {
  dahai: "discard",
  pon: "call",
  daiminkan: "call",
  ankan: "call",
  kakan: "call",
  nukidora: "call",
  reach: "riichi",
  hora: "win",
  ryukyoku: "call",
};

class PlayPage {
  /** @param {HTMLElement} main @param {string} room */
  constructor(main, room) {
    this.room = room;
    this.roomPath = `/api/rooms/${encodeURIComponent(room)}`;
    this.state = initial();
    /** The messages of the round so far, and the states after them. @type {{message: Message, state: State}[]} */
    this.round = [];
    this.passed = NOTHING_PASSED;
    /** What has passed since each riichi, and the bars that follow from it. */
    this.riichiPassed = NONE_PASSED;
    /** @type {Record<string, import("./table.js").Mark>} */
    this.dangers = {};
    /** The replies to the open question. @type {Message[]} */
    this.allowed = [];
    this.choosesRiichi = false;
    /** The discard chosen with a riichi, until the server asks for it. @type {Message | null} */
    this.planned = null;
    /** What the server says of the open question, once the player has asked. @type {Hint | null} */
    this.hint = null;
    /** The room's settings, once the game has begun. @type {Record<string, any> | null} */
    this.settings = null;
    /** The state whose result is shown. @type {State | null} */
    this.held = null;
    this.holdTimer = 0;
    this.hovered = "";
    this.clock = new Clock();
    this.switches = new Switches(() => this.actBySwitch());
    this.table = new NukiTable();
    this.table.append(this.clock.element);
    this.dialog = el("dialog", { class: "play-dialog", "aria-label": t("play_result") });
    this.note = el("div", { class: "play-note" });
    this.waits = el("div", { class: "play-waits", "aria-live": "polite" });
    this.actions = el("div", { class: "actions", role: "group", "aria-label": t("play_actions") });
    this.tools = new Tools(
      () => this.client.askHint(),
      () => this.leave(),
      () => this.draw(),
    );
    this.yaku = new YakuPanel(() => this.tools.yakuButton.click());
    const { element: tools, keys } = this.tools;
    const parts = [this.waits, this.actions, this.switches.element, tools, keys];
    const side = el("div", { class: "play-side" }, parts);
    main.classList.add("play");
    main.append(el("h1", { class: "hidden-text" }, t("play_title", { room })));
    main.append(el("div", { class: "play-table" }, this.table, this.yaku.element, this.note, this.dialog), side);
    this.element = main;
    this.client = new Client(room, this);
    this.listen();
  }

  listen() {
    this.table.addEventListener("discard", (event) => {
      const { tile, tsumogiri } = /** @type {CustomEvent} */ (event).detail;
      const reply = this.discards.find((each) => each.pai === tile && each.tsumogiri === tsumogiri);
      if (reply) this.discard(reply);
    });
    for (const name of ["pointerover", "focusin", "pointerout", "focusout"]) {
      this.table.addEventListener(name, (event) => this.hover(/** @type {Element} */ (event.target), name));
    }
    const tiles = () => [...this.table.querySelectorAll("button")];
    listenToKeys(this.element, tiles, () => this.table.querySelector("button.drawn"));
    this.dialog.addEventListener("close", () => this.release());
  }

  // From the client --------------------------------------------------------------------------------------------------

  /** The next message of the game. @param {Message} message @param {boolean} live not one of those sent again */
  received(message, live) {
    this.state = apply(this.state, message);
    if (message.type === "start_kyoku") this.round = [];
    this.round.push({ message, state: this.state });
    this.passed = followPassed(this.passed, this.state, message);
    this.riichiPassed = followRiichi(this.riichiPassed, this.state, message);
    this.dangers = this.state.round ? dangerMarks(this.state, this.riichiPassed, dangerText) : {};
    this.allowed = [];
    this.hint = null;
    this.choosesRiichi = false;
    this.stopClock();
    if (message.type === "start_game") this.gameBegins();
    if (message.type === "start_kyoku") this.switches.newRound();
    if (message.type === "end_kyoku" && live) this.hold();
    if (message.type === "end_game") this.gameEnds();
    if (live && message.type in SOUNDS) play(SOUNDS[message.type]);
    this.draw();
  }

  /** The message just received asks for a reply. @param {Message} message */
  asked(message) {
    const planned = this.planned;
    this.planned = null;
    this.allowed = replies(this.state, message);
    this.clock.start(this.client.saved?.asked?.at ?? Date.now());
    if (message.type === "reach" && planned) {
      const reply = this.discards.find(({ pai, tsumogiri }) => pai === planned.pai && tsumogiri === planned.tsumogiri);
      if (reply) return this.reply(reply);
    }
    if (this.actBySwitch()) return;
    play("ask");
    if (this.held) this.holdFor((this.clock.decisionTime * 1000) / 2);
    this.draw();
  }

  /** @param {Message} joined */
  waiting({ needed }) {
    const text = needed ? t("play_waiting", { room: this.room, needed }) : t("play_starting");
    note(this.note, text);
  }

  /** @param {Message} message */
  hinted(message) {
    if (this.allowed.length) this.hint = readHint(message, this.state);
    this.draw();
  }

  /** @param {string} text */
  fault(text) {
    showError(text);
  }

  /** @param {string} text */
  refused(text) {
    clearError(); // it says the same
    this.askName(text);
  }

  /** @param {string} text */
  stopped(text) {
    clearError(); // it says the same
    this.allowed = [];
    this.draw();
    const back = () => {
      note(this.note, t("play_connecting"));
      this.client.resumeKept();
    };
    note(this.note, t("play_stopped", { text }), el("button", { type: "button", onclick: back }, t("play_back")));
  }

  /** The game of this tab cannot be resumed: it is over, as a rule. */
  async gone() {
    const kept = this.client.kept();
    clearError(); // it says the same
    try {
      if (kept) this.state = { ...(await loadRecord(kept.game)).reduce(apply, initial()), viewer: kept.seat };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // it is not stored
    } finally {
      this.showEnd(t("play_gone"));
      this.draw();
    }
  }

  /** @param {string} why */
  reconnecting(why) {
    this.allowed = [];
    this.draw();
    note(this.note, why || t("play_reconnecting"));
  }

  /** The connection is back in the game. */
  resumed() {
    note(this.note, "");
  }

  // The game ---------------------------------------------------------------------------------------------------------

  /** The legal discards, those that declare riichi while it is chosen. */
  get discards() {
    return this.choosesRiichi ? riichiDiscards(this.state) : this.allowed.filter(({ type }) => type === "dahai");
  }

  /** @param {Message} reply */
  reply(reply) {
    if (!this.client.reply(reply)) return;
    this.stopClock();
    this.allowed = [];
    this.hint = null;
    this.choosesRiichi = false;
    clearError();
    this.draw();
  }

  /** The question is no longer open; what is left in the bank outlasts a reload of the page. */
  stopClock() {
    const bank = this.clock.stop();
    if (bank !== null) this.client.save({ bank });
  }

  /** @param {Message} reply */
  discard(reply) {
    const riichi = this.choosesRiichi ? this.allowed.find(({ type }) => type === "reach") : null;
    if (riichi) this.planned = reply;
    this.reply(riichi ?? reply);
  }

  /** An action was chosen by its button. @param {Message} reply */
  act(reply) {
    if (reply.type !== "reach") return this.reply(reply);
    this.choosesRiichi = true;
    this.draw();
  }

  /** Reply as the switches say. @returns {boolean} whether they say something */
  actBySwitch() {
    const reply = this.allowed.length ? automatic(this.allowed, this.switches.on) : null;
    if (reply) this.reply(reply);
    return reply !== null;
  }

  /** A tile is pointed at, or no longer. @param {Element} target @param {string} name of the event */
  hover(target, name) {
    const tile = target.closest("button")?.querySelector("[data-tile]")?.getAttribute("data-tile");
    this.hovered = ["pointerover", "focusin"].includes(name) ? (tile ?? "") : "";
    this.drawWaits();
  }

  async gameBegins() {
    note(this.note, "");
    const { settings } = await get(this.roomPath);
    const again = Object.fromEntries(SITTING.map((name) => [name, settings[name]]));
    tabStorage.setItem(ROOM, JSON.stringify({ name: this.room, permanent: false, settings: again }));
    this.settings = settings;
    const left = this.client.saved?.bank ?? -1;
    this.clock.set(settings.decision_time, settings.bank_time, left < 0 ? settings.bank_time : left);
    this.draw();
  }

  gameEnds() {
    if (!this.held) this.showEnd("");
  }

  /** Leave the game, and go to the lobby. */
  async leave() {
    this.allowed = [];
    note(this.note, t("play_leaving"));
    this.draw();
    await this.client.leave();
    location.assign("/");
  }

  /** Show the final result, and where to go from here. @param {string} text "" where the result is known */
  showEnd(text) {
    const game = this.client.kept()?.game ?? "";
    clearTimeout(this.holdTimer);
    this.held = null;
    this.client.save({ over: true });
    note(this.note, "");
    gameOver(this.dialog, this.state, text, game, () => this.again());
  }

  /** Show the result of the round until the player goes on. */
  hold() {
    this.held = this.state;
    resultDialog(this.dialog, this.state, this.analysis());
    this.holdFor(RESULT_TIME);
  }

  /** The address of the analysis of the own last turn in the round, "" if there was none. */
  analysis() {
    const messages = this.round.map(({ message }) => message);
    const turn = lastTurn(messages, this.state.viewer);
    if (turn < 0) return "";
    const position = positionOf(this.round[turn].state, messages.slice(0, turn + 1), this.state.viewer);
    return position ? positionAddress(position) : "";
  }

  /** @param {number} time ms after which the table goes on by itself */
  holdFor(time) {
    clearTimeout(this.holdTimer);
    this.holdTimer = setTimeout(() => this.dialog.close(), time);
  }

  /** The result has been seen. */
  release() {
    clearTimeout(this.holdTimer);
    if (!this.held) return;
    this.held = null;
    this.draw();
    if (this.state.phase === "game_over") this.showEnd("");
  }

  // Drawing ----------------------------------------------------------------------------------------------------------

  draw() {
    const state = this.held ?? this.state;
    const asked = this.allowed.length > 0 && !this.held;
    this.clock.show(!this.held);
    this.table.hidden = !state.round;
    if (state.round) {
      const bottom = Math.max(state.viewer, 0);
      const own = asked && this.discards.length ? playable(this.discards) : null;
      const marks = this.hint?.marks ?? (this.tools.danger && !this.held ? this.dangers : NO_MARKS);
      this.table.show(state, { bottom, open: false, playable: own, marks });
    }
    const act = (/** @type {Message} */ reply) => this.act(reply);
    const focused = [...this.actions.children].indexOf(/** @type {Element} */ (document.activeElement));
    this.actions.replaceChildren(
      ...(this.choosesRiichi ? [this.cancelButton()] : actionButtons(asked ? this.allowed : [], act)),
    );
    /** @type {HTMLElement | undefined} */ (this.actions.children[focused])?.focus(); // one of several may be chosen
    const playing = ["playing", "round_over"].includes(this.state.phase);
    const { hints = false, rated = true } = this.settings ?? {};
    this.tools.show({ playing, hints, asked, rated });
    this.yaku.show(this.tools.yaku && playing, state);
    this.drawWaits();
  }

  cancelButton() {
    const cancel = () => {
      this.choosesRiichi = false;
      this.draw();
    };
    return el("button", { type: "button", class: "action", "data-key": "x", onclick: cancel }, t("play_cancel"));
  }

  drawWaits() {
    const tiles = this.discards.map(({ pai }) => pai);
    const after = tiles.includes(this.hovered) ? this.hovered : "";
    const hint = this.choosesRiichi ? "play_choose_riichi" : "";
    const waits = this.state.round ? waitsLine(this.state, this.passed, after, hint) : [];
    const shown = this.tools.danger && !this.hint && this.state.phase === "playing";
    const dangers = shown ? [dangerLegend(Object.keys(this.dangers).length > 0)] : [];
    this.waits.replaceChildren(...(this.hint?.line ?? []), ...waits, ...dangers);
  }

  // Joining ----------------------------------------------------------------------------------------------------------

  /** Begin: back into the tab's game, into a new one, or ask first: another site's link must not make anybody play. */
  async start() {
    const fromHere = document.referrer.startsWith(`${location.origin}/`);
    note(this.note, t("play_connecting"));
    const kept = this.client.kept();
    if (kept?.over) await this.gone();
    else if (kept) this.client.resumeKept();
    else if (fromHere && ownName()) await this.join();
    else await this.askName("");
  }

  async join() {
    try {
      await this.openRoom();
      this.client.join(ownName(), token());
    } catch (error) {
      await this.askName(/** @type {Error} */ (error).message);
    }
  }

  /** Open the room of the tab's last game again, with the same settings, if it has been closed. */
  async openRoom() {
    const wanted = JSON.parse(tabStorage.getItem(ROOM) ?? "null");
    if (wanted?.name !== this.room) return;
    try {
      await request(this.roomPath);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      await post("/api/rooms", wanted);
    }
  }

  /** @param {string} problem why the last name was refused, or "" */
  async askName(problem) {
    note(this.note, "");
    const server = await get("/api/server");
    const form = joinForm(this.room, server.tokens_needed, problem, (name, secret) => {
      setOwnName(name);
      if (secret) setToken(secret);
      note(this.note, t("play_connecting"));
      this.join();
    });
    this.note.replaceChildren(form);
    form.querySelector("input")?.focus();
  }

  async again() {
    this.dialog.close();
    this.state = initial();
    this.draw();
    note(this.note, t("play_connecting"));
    await this.join();
  }
}

new PlayPage(startPage(t("play_title", { room: subject() })), subject()).start();
