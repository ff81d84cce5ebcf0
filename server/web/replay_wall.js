/** What would have come: the rest of the wall beside a replay, where the seed of the record tells it. */

import { ApiError } from "./api.js";
import { el } from "./dom.js";
import { clearError, showError } from "./page.js";
import { windName } from "./table_words.js";
import { tile, tileName } from "./tile.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */

/**
 * @typedef {object} Wall the wall of a round, without the deal (docs/api.md)
 * @property {string[]} draws all live draws
 * @property {string[]} replacements
 * @property {string[]} dora indicators
 * @property {string[]} ura indicators
 */

/** @typedef {(() => Promise<(Wall | null)[]>) | null} ReadWalls reads the walls of all rounds; null: there are none */

const WINDS = ["E", "S", "W"];
const SEATS = WINDS.length;
const REPLACED = new Set(["ankan", "kakan", "daiminkan", "nukidora"]);

/**
 * What is left of a wall after some messages.
 * @param {Wall} wall
 * @param {Message[]} messages of its round, from `start_kyoku` on
 */
function leftOf({ draws, replacements }, messages) {
  let live = 0;
  let replaced = 0;
  let due = false; // a replacement is to be drawn
  for (const { type } of messages) {
    if (type === "tsumo" && due) replaced++;
    else if (type === "tsumo") live++;
    due = REPLACED.has(type) || (due && type === "dora");
  }
  const end = draws.length - replaced - (due ? 1 : 0);
  return { draws: draws.slice(live, end), replacements: replacements.slice(replaced) };
}

/** A tile and what is said of it. @param {string} name @param {string} classes @param {string} title @param {string} [below] */
function item(name, classes, title, below = "") {
  const label = `${tileName(name)}${title && `, ${title}`}`;
  const shown = tile(name);
  shown.setAttribute("aria-label", label);
  return el("li", { class: classes, title: label }, shown, below && el("span", { "aria-hidden": "true" }, below));
}

/** The switch and what it shows. */
export class WallPanel {
  /** @type {ReadWalls} */
  #read = null;
  /** @type {(Wall | null)[] | null} of all rounds; null: not read yet */
  #walls = null;
  #turned;
  element = el("section", { class: "replay-wall", hidden: true, "aria-label": t("wall_title") });
  button = el(
    "button",
    { type: "button", "data-control": "wall", "aria-pressed": "false", hidden: true, onclick: () => this.turn() },
    t("wall_title"),
  );

  /** @param {() => void} turned is called when the switch is turned */
  constructor(turned) {
    this.#turned = turned;
  }

  /** Offer the walls of a game. They are read when somebody wants to see them. @param {ReadWalls} read */
  load(read) {
    this.#read = read;
    this.#walls = null;
    this.button.hidden = read === null;
    this.#open(false);
  }

  /** Turn the switch. */
  async turn() {
    if (this.#read === null || this.button.disabled) return;
    this.button.disabled = true; // while they are read
    try {
      this.#walls ??= await this.#read();
      clearError();
      this.#open(Boolean(this.element.hidden));
      this.#turned();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      showError(error.message);
    } finally {
      this.button.disabled = false;
    }
  }

  /** @param {boolean} open */
  #open(open) {
    this.element.hidden = !open;
    this.button.setAttribute("aria-pressed", String(open));
  }

  /**
   * Show what is left at a place, if that is wanted.
   * @param {import("./record.js").Timeline} timeline
   * @param {number} place
   * @param {number} bottom seat whose draws are marked
   */
  show(timeline, place, bottom) {
    if (this.element.hidden) return;
    const { round, state } = timeline.places[place];
    const wall = this.#walls?.[round];
    const title = el("h2", {}, t("wall_title"));
    if (!wall) {
      this.element.replaceChildren(title, el("p", { class: "muted" }, t("wall_unknown")));
      return;
    }
    const messages = timeline.places.slice(timeline.rounds[round].first, place + 1).map(({ message }) => message);
    const { draws, replacements } = leftOf(wall, messages);
    const dealer = state.round?.dealer ?? 0;
    const next = state.turn < 0 ? dealer : (state.turn + 1) % SEATS;
    const coming = draws.map((name, index) => {
      const seat = (next + index) % SEATS;
      const wind = windName(WINDS[(seat - dealer + SEATS) % SEATS]);
      const [letter] = wind; // E, or 東
      return item(name, seat === bottom ? "own" : "", `${wind} ${state.seats[seat].name}`, letter);
    });
    const turned = state.doraMarkers.length;
    const indicators = (/** @type {string[]} */ names) =>
      names.map((name, index) => item(name, index < turned ? "turned" : "", index < turned ? t("wall_turned") : ""));
    this.element.replaceChildren(
      title,
      el("p", { class: "muted" }, t("wall_explained")),
      part("draws", coming),
      part(
        "replacements",
        replacements.map((name) => item(name, "", "")),
      ),
      part("dora", indicators(wall.dora)),
      part("ura", indicators(wall.ura)),
    );
  }
}

/** @param {keyof Wall} name @param {HTMLElement[]} items */
function part(name, items) {
  const shown = items.length ? el("ol", { "data-wall": name }, items) : el("p", { class: "muted" }, t("wall_none"));
  return el("div", {}, el("h3", {}, t(`wall_${name}`)), shown);
}
