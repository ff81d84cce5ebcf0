/** The element `<nuki-table>`: draws a state of a game (mjai.js). */

import { el, nameParts, setText } from "./dom.js";
import { call, lastEvent, roundName, SIDES, seatWind, sideOf, summary } from "./table_words.js";
import { setTile, tile, tileName } from "./tile.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./mjai.js").Seat} Seat */
/** @typedef {import("./mjai.js").Meld} Meld */

/**
 * @typedef {object} Mark a bar at a tile
 * @property {number} value height, 0 to 1
 * @property {string} text what a tooltip says
 * @property {"best" | "played" | "danger-0" | "danger-1" | "danger-2" | "danger-3" | ""} role
 */

/**
 * @typedef {object} TableOptions
 * @property {number} bottom the seat at the bottom; the next seat is on its right, the third on its left
 * @property {boolean} open whether hands of other seats are shown, where they are known
 * @property {Record<string, Mark>} [marks] at tiles of the bottom seat's hand, by name; `drawn` for the drawn tile
 * @property {{hand: string[], drawn: boolean} | null} [playable] tiles of the bottom seat that may be clicked to be
 *   discarded, the others are dimmed; null or missing: none is clickable, none is dimmed
 */

/** @typedef {[name: string, classes: string]} Shown a tile and its classes */
/** @typedef {ReturnType<typeof makePlace>} Place */
/** @typedef {ReturnType<typeof makePlate>} Plate */

const HOUSE = " (house)"; // of the names of house bots (server/names.py); the number after it tells two apart
const LINE = 6; // discards in a line of a river; the last line is longer if need be
const LINES = 3;
const DORA_MARKERS = 5;

/**
 * Draws only what has changed since the state before, so that stepping through a game is cheap. What a page has put into
 * the element lies on the board.
 */
export class NukiTable extends HTMLElement {
  /** @type {Place[]} what belongs to a seat, by side */
  #places = [];
  /** @type {Plate | null} */
  #plate = null;
  /** @type {Map<string, unknown[]>} what each part was drawn from */
  #drawnFrom = new Map();
  #focused = -1; // the tile of the hand that had the focus while it could be clicked

  /**
   * Draw a state. A click on a playable tile dispatches `discard` with detail {tile, tsumogiri}.
   * @param {State} state
   * @param {TableOptions} options
   */
  show(state, options) {
    this.#plate ??= this.#build();
    this.#showPlate(this.#plate, state, options);
    SIDES.forEach((_, side) => {
      this.#showSeat(state, side, options);
    });
  }

  /** @returns {Plate} */
  #build() {
    this.#places = SIDES.map(makePlace);
    const plate = makePlate();
    const { panel, centre, call: callLabel, live } = plate;
    const middle = el("div", { class: "plate" }, centre, ...this.#places.map(({ edge }) => edge));
    const seats = this.#places.map(({ root }) => root);
    this.setAttribute("role", "group");
    const laid = [...this.children];
    this.append(el("div", { class: "board" }, panel, middle, seats, callLabel, laid), live);
    return plate;
  }

  /** @param {Plate} plate @param {State} state @param {TableOptions} options */
  #showPlate(plate, state, { bottom, open }) {
    const { round, sticks, tilesLeft, doraMarkers, uradoraMarkers, last } = state;
    this.setAttribute("aria-label", summary(state));
    plate.panel.hidden = plate.centre.hidden = round === null;
    setText(plate.round, round ? roundName(round) : "");
    setText(plate.remaining, t("table_left", { n: tilesLeft }));
    setText(plate.honba, round?.honba ?? 0);
    setText(plate.sticks, sticks);
    const hidden = Array(DORA_MARKERS - doraMarkers.length).fill("?");
    fill(plate.dora, [...doraMarkers, ...hidden].map(plain));
    fill(plate.ura, uradoraMarkers.map(plain));
    setText(plate.call, call(state));
    plate.call.className = `call ${SIDES[last ? sideOf(last.actor, bottom) : 0]}`;
    setText(plate.live, lastEvent(state, open || last?.actor === bottom));
  }

  /** @param {State} state @param {number} side @param {TableOptions} options */
  #showSeat(state, side, options) {
    const index = (options.bottom + side) % state.seats.length;
    const seat = state.seats[index];
    const place = this.#places[side];
    this.#showEdge(state, index, place, options.bottom);
    if (this.#changed(`names${side}`, [seat.name])) showName(place, seat.name);

    const last = lastDiscarder(state) === index;
    if (this.#changed(`river${side}`, [seat.discards, last])) showRiver(place.lines, seat, last);
    if (this.#changed(`norths${side}`, [seat.norths])) fill(place.norths, seat.norths.map(plain));
    if (this.#changed(`melds${side}`, [seat.melds, index])) {
      place.melds.replaceChildren(...seat.melds.map((meld) => meldElement(meld, index)));
    }

    const shown = side === 0 || options.open || revealed(state, index);
    const win = state.wins.find(({ actor }) => actor === index);
    const drawn = win ? win.pai : seat.drawn && !shown ? "?" : seat.drawn;
    const hand = shown ? seat.hand : seat.hand.map(() => "?");
    if (side === 0) {
      const { marks, playable } = options;
      if (this.#changed("hand", [seat.hand, drawn, marks, playable]))
        this.#showOwnHand(place.hand, hand, drawn, options);
    } else if (this.#changed(`hand${side}`, [seat.hand, drawn, shown])) {
      fill(place.hand, [...hand.map(plain), ...(drawn ? [/** @type {Shown} */ ([drawn, "drawn"])] : [])]);
    }
  }

  /** A seat's edge of the plate. @param {State} state @param {number} index @param {Place} place @param {number} bottom */
  #showEdge(state, index, { edge, wind, score, difference }, bottom) {
    const seat = state.seats[index];
    const more = seat.score - state.seats[bottom].score;
    setText(wind, seatWind(state, index));
    setText(score, seat.score);
    setText(difference, index === bottom ? "" : `${more > 0 ? "+" : more < 0 ? "−" : "±"}${Math.abs(more)}`);
    const playing = state.turn === index && state.phase === "playing";
    const states = { turn: playing, dealer: state.round?.dealer === index, riichi: seat.riichi === "accepted" };
    edge.className = `edge ${SIDES[sideOf(index, bottom)]} ${classes(states)}`;
  }

  /** The hand at the bottom. @param {HTMLElement} element @param {string[]} hand @param {string} drawn @param {TableOptions} options */
  #showOwnHand(element, hand, drawn, { marks = {}, playable = null }) {
    const focused = element.contains(document.activeElement);
    if (focused) this.#focused = [...element.children].indexOf(/** @type {Element} */ (document.activeElement));
    const slots = hand.map((name) =>
      this.#slot(name, false, marks[name], playable ? playable.hand.includes(name) : null),
    );
    if (drawn) slots.push(this.#slot(drawn, true, marks.drawn, playable ? playable.drawn : null));
    slots.forEach((slot, index) => {
      const old = element.children[index];
      if (!old) element.append(slot);
      else if (!old.isEqualNode(slot)) old.replaceWith(slot);
    });
    while (element.children.length > slots.length) element.lastElementChild?.remove();
    if (playable && this.#focused >= 0) this.#focusAgain(element);
  }

  /** Put the focus back to where it was when the hand could be clicked last. @param {HTMLElement} element */
  #focusAgain(element) {
    const buttons = /** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll("button:enabled"));
    if (document.activeElement === document.body) buttons[Math.min(this.#focused, buttons.length - 1)]?.focus();
    this.#focused = -1;
  }

  /**
   * A place of the hand at the bottom.
   * @param {string} name
   * @param {boolean} drawn
   * @param {Mark | undefined} mark
   * @param {boolean | null} playable null: not a button
   * @returns {HTMLElement}
   */
  #slot(name, drawn, mark, playable) {
    const content = [mark && bar(mark), tile(name)].filter((child) => child !== undefined);
    const properties = { class: drawn ? "slot drawn" : "slot", title: mark?.text, "data-drawn": drawn };
    if (playable === null) return el("span", properties, content);
    const label = mark ? `${tileName(name)}: ${mark.text}` : tileName(name);
    const button = { ...properties, type: "button", "aria-label": label, disabled: !playable };
    return el("button", { ...button, onclick: () => this.#discard(name, drawn) }, content);
  }

  /** @param {string} name @param {boolean} tsumogiri */
  #discard(name, tsumogiri) {
    this.dispatchEvent(new CustomEvent("discard", { detail: { tile: name, tsumogiri }, bubbles: true }));
  }

  /** Whether a part must be drawn again. @param {string} part @param {unknown[]} from what it shows @returns {boolean} */
  #changed(part, from) {
    const before = this.#drawnFrom.get(part);
    this.#drawnFrom.set(part, from);
    return !before || from.some((value, index) => value !== before[index]);
  }
}

customElements.define("nuki-table", NukiTable);

/** The elements of a seat. @param {string} side */
function makePlace(side) {
  const [name, wind, score, difference] = ["name cut-name", "wind", "score", "difference"].map((key) =>
    el("span", { class: key }),
  );
  const [river, norths, hand, melds] = ["river", "norths", "hand", "melds"].map((key) =>
    el("div", { class: key, role: "group" }),
  );
  const lines = Array.from({ length: LINES }, () => el("div", { class: "line" }));
  river.append(...lines);
  const points = el("span", { class: "points" }, wind, " ", score, " ", difference);
  const edge = el("div", { class: `edge ${side}` }, name, points, el("span", { class: "stick" }));
  const root = el("div", { class: `seat ${side}` }, river, norths, el("div", { class: "tiles" }, hand, melds));
  return { root, edge, name, wind, score, difference, river, lines, norths, hand, melds };
}

/** The elements that belong to no seat. */
function makePlate() {
  const [round, remaining, honba, sticks] = ["round", "remaining", "honba", "sticks"].map((key) =>
    el("span", { class: key }),
  );
  const [dora, ura] = ["dora", "ura"].map((key) =>
    el("div", { class: key, role: "group", "aria-label": t(`table_${key}`) }),
  );
  const counters = el("p", { class: "counters" }, t("table_honba"), " ", honba, " ", t("table_sticks"), " ", sticks);
  const label = el("p", { class: "label" }, t("table_dora"));
  return {
    round,
    remaining,
    honba,
    sticks,
    dora,
    ura,
    panel: el("div", { class: "panel" }, label, dora, ura, counters),
    centre: el("div", { class: "centre" }, round, remaining),
    call: el("p", { class: "call", "aria-hidden": "true" }),
    live: el("p", { class: "hidden-text", "aria-live": "polite" }),
  };
}

/** @param {Place} place @param {string} name */
function showName({ name: label, river, norths, hand, melds }, name) {
  label.replaceChildren(...nameParts(name.replace(HOUSE, "")));
  label.title = name;
  for (const [key, element] of Object.entries({ river, norths, hand, melds })) {
    element.setAttribute("aria-label", t(`table_${key}`, { name }));
  }
}

/** @param {string} name @returns {Shown} */
function plain(name) {
  return [name, ""];
}

/** The classes whose value is true. @param {Record<string, boolean>} states */
function classes(states) {
  return Object.keys(states)
    .filter((name) => states[name])
    .join(" ");
}

/** Show tiles in an element, with as many of those already there as possible. @param {Element} element @param {Shown[]} tiles */
function fill(element, tiles) {
  tiles.forEach(([name, tileClasses], index) => {
    const old = /** @type {SVGElement | undefined} */ (element.children[index]);
    if (old) setTile(old, name, tileClasses);
    else element.append(tile(name, tileClasses));
  });
  while (element.children.length > tiles.length) element.lastElementChild?.remove();
}

/** Whether a seat has shown its hand at the end of the round. @param {State} state @param {number} index */
function revealed({ wins, draw }, index) {
  return wins.some(({ actor }) => actor === index) || (draw !== null && !draw.tehais[index].includes("?"));
}

/** The seat whose discard is the newest one, -1 for nobody. @param {State} state */
function lastDiscarder({ offer, turn, seats }) {
  if (offer && seats[offer.actor].discards.at(-1)?.tile === offer.tile && !seats[offer.actor].drawn) return offer.actor;
  return turn >= 0 && seats[turn].drawn ? (turn + seats.length - 1) % seats.length : -1;
}

/** @param {HTMLElement[]} lines @param {Seat} seat @param {boolean} last whether its last discard is the newest one */
function showRiver(lines, { discards }, last) {
  const tiles = discards.map(({ tile: name, tsumogiri, riichi, calledBy }, index) => {
    const newest = last && index === discards.length - 1 && calledBy < 0;
    const states = { tsumogiri, sideways: riichi, called: calledBy >= 0, last: newest };
    return /** @type {Shown} */ ([name, classes(states)]);
  });
  lines.forEach((line, index) => {
    fill(line, tiles.slice(index * LINE, index === LINES - 1 ? undefined : (index + 1) * LINE));
  });
}

/** A meld: the tile called lies sideways, on the side of the seat it came from. @param {Meld} meld @param {number} seat */
function meldElement({ type, tiles, target }, seat) {
  const element = el("div", { class: `meld ${type}` });
  if (type === "ankan") {
    element.append(...["?", tiles[2], tiles[3], "?"].map((name) => tile(name)));
    return element;
  }
  const own = type === "daiminkan" ? 3 : 2;
  const called = el(
    "div",
    { class: "called" },
    tiles.slice(own).map((name) => tile(name, "sideways")),
  );
  element.append(...tiles.slice(0, own).map((name) => tile(name)));
  if (sideOf(target, seat) === 1) element.append(called);
  else element.prepend(called);
  return element;
}

/** The bar of a mark. @param {Mark} mark */
function bar({ value, role }) {
  const element = el("span", { class: `bar ${role}`.trim() });
  element.style.setProperty("--value", String(value));
  return element;
}
