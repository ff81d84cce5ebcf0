/** The form of a position: its fields, filled from a position and read back. */

import "./words_position.js";
import { el } from "./dom.js";
import { WINDS } from "./position_text.js";
import { LENGTHS, RULES } from "./room_settings.js";
import { roundName, windName } from "./table_words.js";
import { t } from "./words.js";

/** @typedef {import("./position_text.js").Position} Position */

const ROUNDS = WINDS.flatMap((wind) => [1, 2, 3].map((number) => `${wind}${number}`));
const MOST_BOTS = 4;
const USUAL_BOTS = 2; // chosen at first
const SEATS = [0, 1, 2];
/** Fields of one input each. */
const NUMBERS = ["honba", "norths", "left"];
const TEXTS = ["hand", "dora", "melds"];
/** @type {Record<string, string>} of selects, which a position need not name */
const USUAL = { seat: "E", round: "E1", rules: "tenhou", length: "hanchan" };
const EXAMPLE = { hand: "340p4568s123467p3s", dora: "4s", seat: "S", left: 30 };

/** @param {string} name @param {Record<string, unknown>} more attributes */
function text(name, more = {}) {
  return el("input", { name, autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...more });
}

/** @param {string} name @param {number} max @param {number} shown where it is empty */
function number(name, max, shown = 0) {
  return text(name, { type: "number", min: 0, max, placeholder: shown });
}

/** @param {string} name @param {[string, string][]} options values with their labels */
function select(name, options) {
  const elements = options.map(([value, label]) => el("option", { value }, label));
  return el("select", { name }, elements);
}

/** A choice with its word, as rooms call it. @param {string} value @returns {[string, string]} */
function choice(value) {
  return [value, t(`choice_${value}`)];
}

/** An input with its label. @param {string} key of the label @param {HTMLElement} input @param {string} more classes */
function field(key, input, more = "") {
  return el("label", { class: `field ${more}` }, el("span", {}, t(`pos_${key}`)), input);
}

/** Seat, round, rules and scores. */
function situationPart() {
  const seats = WINDS.map((wind) => /** @type {[string, string]} */ ([wind, windName(wind)]));
  const rounds = ROUNDS.map(
    ([wind, kyoku]) => /** @type {[string, string]} */ ([wind + kyoku, roundName({ wind, kyoku })]),
  );
  const scores = SEATS.map((wind) => {
    const label = t("pos_scores_of", { wind: windName(WINDS[wind]) });
    return text(`score${wind}`, { type: "number", step: 100, min: 0, placeholder: 35000, "aria-label": label });
  });
  return el(
    "div",
    { class: "position-fields" },
    field("seat", select("seat", seats)),
    field("round", select("round", rounds)),
    field("honba", number("honba", 99)),
    field("dora", text("dora", { placeholder: "5z" })),
    field("rules", select("rules", RULES.map(choice))),
    field("length", select("length", LENGTHS.toReversed().map(choice))),
    el("fieldset", { class: "position-scores" }, el("legend", {}, t("pos_scores")), scores),
  );
}

/** The rivers, closed at first. */
function riversPart() {
  const rivers = WINDS.map((wind) =>
    el("label", { class: "field" }, el("span", {}, t("pos_river", { wind: windName(wind) })), text(`river${wind}`)),
  );
  const help = el("p", { class: "muted" }, t("pos_rivers_help"));
  return el("details", { class: "position-more" }, el("summary", {}, t("pos_rivers")), help, rivers);
}

/** What is known of a round whose rivers are not, closed at first. */
function middlePart() {
  const fields = el(
    "div",
    { class: "position-fields" },
    field("melds", text("melds", { placeholder: t("pos_melds_help") })),
    field("norths", number("norths", 4)),
    field("left", number("left", 54, 36)),
  );
  return el("details", { class: "position-more" }, el("summary", {}, t("pos_middle")), fields);
}

export class PositionForm {
  /**
   * @param {string[]} bots that can be asked
   * @param {(position: Position, bots: string[]) => void} submit
   */
  constructor(bots, submit) {
    this.rivers = riversPart();
    this.middle = middlePart();
    const choices = bots.map((bot) => el("label", {}, el("input", { type: "checkbox", name: "bot", value: bot }), bot));
    this.element = el(
      "form",
      { class: "position-form", novalidate: true },
      field("hand", text("hand", { placeholder: "123p456s11z99m2256p", "aria-describedby": "hand-help" }), "wide"),
      el("p", { class: "muted", id: "hand-help" }, t("pos_hand_help")),
      situationPart(),
      this.rivers,
      this.middle,
      el("fieldset", { class: "position-bots" }, el("legend", {}, t("pos_bots")), choices),
      el(
        "div",
        { class: "row" },
        el("button", { class: "primary" }, t("pos_analyse")),
        el("button", { type: "button", onclick: () => this.#example() }, t("pos_example")),
      ),
    );
    this.choose(bots.slice(0, USUAL_BOTS));
    this.element.addEventListener("change", () => this.#limitBots());
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(this.read(), this.chosen());
    });
  }

  #example() {
    this.fill(EXAMPLE);
    this.element.requestSubmit();
  }

  /** @param {string} name @returns {HTMLInputElement} */
  #input(name) {
    return /** @type {HTMLInputElement} */ (this.element.elements.namedItem(name));
  }

  /** The checkboxes. @returns {HTMLInputElement[]} */
  get #boxes() {
    return [.../** @type {NodeListOf<HTMLInputElement>} */ (this.element.querySelectorAll("[name=bot]"))];
  }

  /** The bots to ask. */
  chosen() {
    return this.#boxes.filter(({ checked }) => checked).map(({ value }) => value);
  }

  /** No more can be chosen than the server asks. */
  #limitBots() {
    const full = this.chosen().length >= MOST_BOTS;
    for (const box of this.#boxes) box.disabled = full && !box.checked;
  }

  /** @param {string[]} bots those there are not are left out */
  choose(bots) {
    for (const box of this.#boxes) box.checked = bots.includes(box.value);
    this.#limitBots();
  }

  /** @param {Position} position */
  fill(position) {
    const { scores = [], rivers = [] } = position;
    const given = /** @type {Record<string, any>} */ (position);
    for (const name of [...TEXTS, ...NUMBERS]) this.#input(name).value = String(given[name] ?? "");
    for (const [name, usual] of Object.entries(USUAL)) this.#input(name).value = given[name] ?? usual;
    for (const seat of SEATS) {
      this.#input(`score${seat}`).value = String(scores[seat] ?? "");
      this.#input(`river${WINDS[seat]}`).value = rivers[seat] ?? "";
    }
    this.rivers.open = rivers.some(Boolean);
    this.middle.open = !this.rivers.open && Boolean(position.melds || position.norths);
  }

  /** The position in the form; what is empty or usual is left out. @returns {Position} */
  read() {
    /** @type {Record<string, any>} */
    const position = { hand: this.#input("hand").value.trim() };
    for (const [name, usual] of Object.entries(USUAL)) {
      if (this.#input(name).value !== usual) position[name] = this.#input(name).value;
    }
    for (const name of TEXTS) {
      if (this.#input(name).value.trim()) position[name] = this.#input(name).value.trim();
    }
    for (const name of NUMBERS) {
      if (this.#input(name).value) position[name] = Number(this.#input(name).value);
    }
    const scores = SEATS.map((seat) => this.#input(`score${seat}`).value);
    if (scores.some(Boolean)) position.scores = scores.map((score) => Number(score || 35000));
    const rivers = WINDS.map((wind) => this.#input(`river${wind}`).value.trim());
    if (rivers.some(Boolean)) {
      position.rivers = rivers;
      delete position.left; // they tell it
    }
    return /** @type {Position} */ (position);
  }

  /** Lead to the field that an error names. @param {string} problem what the server says, "" for nothing */
  mark(problem) {
    for (const input of this.element.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    const [field] = problem.split(":");
    const name = field.replace(/^river of /, "river").replace(/^scores$/, "score0");
    const input = problem ? this.#input(name) : null;
    if (!(input instanceof HTMLElement)) return;
    const more = input.closest("details");
    if (more) more.open = true;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  }
}
