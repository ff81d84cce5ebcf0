/** A review as it is shown: on the server's page, and in the file that `python -m agents.review --html` writes. */

import "./table.js";
import "./words_review.js";
import { actionOf, marksOf } from "./annotations.js";
import { el } from "./dom.js";
import { keyName } from "./keys.js";
import { positionAddress, positionOf } from "./position_text.js";
import { problemText } from "./problem_text.js";
import { followed, REGION } from "./review_followed.js";
import * as parts from "./review_parts.js";
import { language, t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {parts.Review} Review */

const PAUSE = 250; // milliseconds until the place is written into the URL: browsers refuse many writes at once
const FIELDS = "input, select, textarea";

/** Keys, with `Shift+` for arrows. @type {Record<string, (view: ReviewView) => void>} */
const KEYS = {
  ArrowRight: (view) => view.go(view.index + 1),
  ArrowLeft: (view) => view.go(view.index - 1),
  "Shift+ArrowRight": (view) => view.goToMistake(1),
  "Shift+ArrowLeft": (view) => view.goToMistake(-1),
  Home: (view) => view.go(0),
  End: (view) => view.go(Infinity),
  b: (view) => view.weigh((view.bot + 1) % view.review.bots.length),
  h: (view) => view.turnHands(),
};

/**
 * Show a review, at the decision that the fragment of the URL names: `#at=12`, an index of the messages.
 * @param {HTMLElement} main filled with it
 * @param {Message[]} messages of the game, canonical, as `review.decisions[].message` counts them
 * @param {Review} review
 * @param {string} [game] id of the game on this server, to link its replay; "" for none
 * @param {boolean} [served] whether a server shows it, whose page for a position is linked
 * @returns {() => void} ends it: keys and the fragment are not listened to any more
 */
export function showReview(main, messages, review, game = "", served = false) {
  const view = new ReviewView(messages, review, game, served);
  const listening = new AbortController();
  const { signal } = listening;
  document.documentElement.lang = language();
  main.replaceChildren(view.element);
  document.addEventListener("keydown", (event) => view.key(event), { signal });
  addEventListener("hashchange", ({ newURL }) => view.goToFragment(new URL(newURL).hash), { signal });
  view.goToFragment(location.hash);
  return () => listening.abort();
}

/** Show the page of a file. @param {HTMLElement} main filled with it @param {{messages: Message[], review: Review}} data */
export function show(main, { messages, review }) {
  showReview(main, messages, review);
}

class ReviewView {
  index = 0; // of the decision that is shown
  bot = 0; // whose bars are on the tiles, and whose mistakes are stepped through
  #sorted = true;
  #open = false;
  #timer = 0;
  #table = /** @type {import("./table.js").NukiTable} */ (document.createElement("nuki-table"));
  #place = el("p", { class: "review-place", role: "status" });
  #opinions = el("div", { class: "review-opinions" });
  #bots = el("div", { class: "row" });
  #replay = el("a", { class: "button" }, t("review_replay"));
  #analyse = el("a", { class: "button", "data-control": "analyse", hidden: true }, t("review_analyse"));
  #hands = el("button", { type: "button", onclick: () => this.turnHands() }, t("review_open"));
  #decisions = el("div", { ...REGION, "aria-label": t("review_decisions") });

  /** @param {Message[]} messages @param {Review} review @param {string} game @param {boolean} served */
  constructor(messages, review, game, served) {
    this.review = review;
    this.game = game;
    this.served = served;
    this.messages = messages;
    this.states = followed(messages);
    this.starts = messages.flatMap(({ type }, index) => (type === "start_kyoku" ? [index] : []));
    this.element = this.#build();
    this.weigh(0);
  }

  #build() {
    const { names, seat, problems, problem_codes: codes, handed_over_parts: handedOver } = this.review;
    const { cut_off: cutOff, cut_off_code: cutOffCode } = this.review;
    const button = (/** @type {string} */ name, /** @type {() => void} */ onclick) =>
      el("button", { type: "button", "data-control": name, onclick }, t(`review_${name}`));
    const moves = el(
      "div",
      { class: "review-moves", role: "group", "aria-label": t("review_moves") },
      button("previous_mistake", () => this.goToMistake(-1)),
      button("previous", () => this.go(this.index - 1)),
      button("next", () => this.go(this.index + 1)),
      button("next_mistake", () => this.goToMistake(1)),
    );
    const settings = el("div", { class: "row" }, this.#bots, this.#hands, this.game && this.#replay, this.#analyse);
    return el(
      "div",
      { class: "review" },
      el("h1", {}, t("review_title", { name: names[seat] })),
      cutOff &&
        el("p", { class: "warn" }, t("review_cut_off", { problem: problemText({ detail: cutOff, ...cutOffCode }) })),
      handedOver.map(({ who, first, last }) =>
        el(
          "p",
          { class: "warn" },
          last === null ? t("review_handed_over", { who, first }) : t("review_handed_back", { who, first, last }),
        ),
      ),
      problems.map((detail, index) =>
        el("p", { class: "warn" }, t("review_problem", { problem: problemText({ detail, ...codes[index] }) })),
      ),
      el(
        "div",
        { class: "review-stage" },
        this.#table,
        el("div", { class: "review-aside" }, this.#place, moves, this.#opinions, settings),
      ),
      el("p", { class: "muted review-help" }, t("review_help")),
      el(
        "div",
        { class: "review-lists" },
        el("section", {}, el("h2", {}, t("review_decisions")), this.#decisions),
        el(
          "section",
          {},
          el("h2", {}, t("review_summary")),
          el("div", { ...REGION, "aria-label": t("review_summary") }, parts.summaryTable(this.review)),
          parts.unknownNotes(this.review),
          el("p", { class: "muted" }, t("review_explained")),
        ),
      ),
    );
  }

  /** Show the decision of a fragment: the last one before a message, else the first. @param {string} fragment */
  goToFragment(fragment) {
    const at = Number(new URLSearchParams(fragment.slice(1)).get("at") ?? 0);
    this.go(this.review.decisions.findLastIndex(({ message }) => message <= at));
  }

  /** @param {number} index brought to a decision there is */
  go(index) {
    this.index = Math.max(0, Math.min(index, this.review.decisions.length - 1));
    this.#draw();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#writeFragment(), PAUSE);
  }

  /** To the next or the previous mistake that the chosen bot sees. @param {1 | -1} direction */
  goToMistake(direction) {
    const { decisions } = this.review;
    for (let index = this.index + direction; decisions[index]; index += direction) {
      if (parts.isMistake(decisions[index], this.bot)) return this.go(index);
    }
  }

  /** Choose the bot whose bars are shown. @param {number} bot */
  weigh(bot) {
    this.bot = bot;
    const { bots, decisions } = this.review;
    const buttons = bots.map((name, index) =>
      el("button", { type: "button", "aria-pressed": String(index === bot), onclick: () => this.weigh(index) }, name),
    );
    this.#bots.replaceChildren(...(bots.length > 1 ? [t("review_bars"), ...buttons] : []));
    const mistakes = decisions.filter((decision) => parts.isMistake(decision, bot)).length;
    for (const name of ["previous_mistake", "next_mistake"]) {
      const control = /** @type {HTMLButtonElement} */ (this.element.querySelector(`[data-control=${name}]`));
      control.disabled = mistakes === 0;
      control.title = mistakes ? "" : t("review_no_mistake", { bot: bots[bot] });
    }
    this.#drawDecisions();
    this.#draw();
  }

  /** Show the hands of the other seats, or hide them. */
  turnHands() {
    this.#open = !this.#open;
    this.#draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (/** @type {HTMLElement} */ (event.target).closest(FIELDS)) return;
    const act = KEYS[keyName(event)];
    if (!act) return;
    event.preventDefault();
    act(this);
  }

  #drawDecisions() {
    const order = { bot: this.bot, sorted: this.#sorted };
    const go = (/** @type {number} */ index) => {
      this.go(index);
      this.#table.scrollIntoView({ block: "nearest" });
    };
    const sort = (/** @type {number} */ bot) => {
      this.#sorted = bot >= 0;
      this.weigh(Math.max(bot, 0));
    };
    this.#decisions.replaceChildren(parts.decisionTable(this.review, order, this.states, { go, sort }));
  }

  #draw() {
    const { bots, decisions, seat } = this.review;
    const decision = decisions[this.index];
    const state = this.states[decision.message];
    const opinion = decision.reviews[this.bot];
    const choices = opinion.actions.map((option) => ({
      action: actionOf(option.action),
      value: option.value ?? 0,
      height: parts.fill(option, opinion),
      text: parts.optionText(option),
    }));
    const marks = marksOf(choices, actionOf(decision.actual), state.seats[seat]);
    this.#table.show(state, { bottom: seat, open: this.#open, marks });
    this.#hands.setAttribute("aria-pressed", String(this.#open));
    this.#place.textContent = t("review_place", {
      number: this.index + 1,
      count: decisions.length,
      round: parts.roundOf(state),
      turn: decision.turn,
      shanten: parts.shantenText(decision.shanten),
      kind: t(`review_kind_${decision.kind}`),
    });
    this.#opinions.replaceChildren(...bots.map((bot, index) => parts.opinionPanel(bot, decision.reviews[index])));
    const step = decision.message - this.starts[decision.round];
    this.#replay.href = `/games/${encodeURIComponent(this.game)}#round=${decision.round}&step=${step}&seat=${seat}`;
    const before = this.messages.slice(this.starts[decision.round], decision.message + 1);
    const position = this.served && positionOf(state, before, seat);
    this.#analyse.hidden = !position;
    if (position) this.#analyse.href = positionAddress(position, bots);
    for (const row of this.#decisions.querySelectorAll("tbody tr")) {
      const isShown = Number(/** @type {HTMLElement} */ (row).dataset.decision) === this.index;
      if (isShown) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
  }

  #writeFragment() {
    const keys = new URLSearchParams(location.hash.slice(1));
    keys.set("at", String(this.review.decisions[this.index].message));
    if (`#${keys}` !== location.hash) history.replaceState(null, "", `#${keys}`);
  }
}
