/**
 * Follows the mjai messages of a game: `apply(state, message)` returns the state after a message (a reducer).
 *
 * A state is never changed: what a message leaves alone is shared with the state before it, so that all states of a
 * game may be kept. Messages are canonical (dialect mjai3p, docs/protocol.md), with open or hidden (`?`) hands.
 */

/** @typedef {Record<string, any> & {type: string}} Message a message of docs/protocol.md */

/**
 * @typedef {object} Discard
 * @property {string} tile
 * @property {boolean} tsumogiri the tile just drawn
 * @property {boolean} riichi declares riichi
 * @property {number} calledBy the seat that called it, -1: nobody
 */

/**
 * @typedef {object} Meld
 * @property {"pon" | "daiminkan" | "kakan" | "ankan"} type
 * @property {string[]} tiles all of its tiles: those of the hand, then the called one, then that added by a kakan
 * @property {string} called the tile called, "" for an ankan
 * @property {number} target the seat it was called from, -1 for an ankan
 */

/**
 * @typedef {object} Seat
 * @property {string} name
 * @property {number} score
 * @property {string[]} hand concealed tiles in order, `?` for hidden ones, without `drawn`
 * @property {string} drawn the tile just drawn, `?` if hidden; "" after a discard, call or kan
 * @property {Meld[]} melds
 * @property {Discard[]} discards
 * @property {string[]} norths set aside
 * @property {"" | "declared" | "accepted"} riichi
 */

/**
 * @typedef {object} Round
 * @property {string} wind E, S or W
 * @property {number} kyoku number of the round in its wind, from 1
 * @property {number} honba
 * @property {number} dealer seat
 * @property {number} index number of rounds before this one
 * @property {number[]} startScores
 */

/**
 * @typedef {object} State
 * @property {"before" | "playing" | "round_over" | "game_over"} phase
 * @property {string} rules preset, "" if not known
 * @property {string} length east or hanchan, "" if not known
 * @property {number} viewer the seat that receives the messages, -1 for spectators and records
 * @property {Round | null} round null before the first one
 * @property {number} sticks riichi sticks on the table
 * @property {string[]} doraMarkers
 * @property {string[]} uradoraMarkers shown by a win
 * @property {number} tilesLeft draws left
 * @property {Seat[]} seats the three seats
 * @property {number} turn the seat that has drawn, called or discarded last, -1: none in this round
 * @property {{actor: number, tile: string} | null} offer a discard, kakan, ankan or north that others may still take
 * @property {Message[]} wins the `hora` messages of this round
 * @property {Message | null} draw the `ryukyoku` message of this round
 * @property {number[] | null} points final points in thousands, once the game is over and if they are known
 * @property {Message | null} last the message that led here
 */

const SEATS = 3;
const START_POINTS = 35000;
const DRAWS = 55;
const RIICHI_STICK = 1000;
const ORDER = [
  "1m", "9m",
  ...["p", "s"].flatMap((suit) => [1, 2, 3, 4, 5, "5r", 6, 7, 8, 9].map((n) => (n === "5r" ? `5${suit}r` : n + suit))),
  "E", "S", "W", "N", "P", "F", "C", "?",
]; // prettier-ignore
const RANK = new Map(ORDER.map((tile, rank) => [tile, rank]));

/** A message that cannot follow those before it. */
export class MjaiError extends Error {}

/**
 * Tiles in the order of a hand.
 * @param {string[]} tiles
 * @returns {string[]}
 */
export function sorted(tiles) {
  return [...tiles].sort((a, b) => rank(a) - rank(b));
}

/** @param {string} tile @returns {number} */
function rank(tile) {
  const found = RANK.get(tile);
  if (found === undefined) throw new MjaiError(`${tile} is no tile`);
  return found;
}

/**
 * A tile without its colour: `5p` for `5pr`.
 * @param {string} tile
 */
export function kind(tile) {
  return tile.endsWith("r") ? tile.slice(0, 2) : tile;
}

/** The state before `start_game`. @returns {State} */
export function initial() {
  return {
    phase: "before", rules: "", length: "", viewer: -1, round: null, sticks: 0, doraMarkers: [], uradoraMarkers: [],
    tilesLeft: 0, seats: Array.from({ length: SEATS }, (_, seat) => emptySeat(`seat ${seat}`, START_POINTS)), turn: -1,
    offer: null, wins: [], draw: null, points: null, last: null,
  }; // prettier-ignore
}

/** @param {string} name @param {number} score @returns {Seat} */
function emptySeat(name, score) {
  return { name, score, hand: [], drawn: "", melds: [], discards: [], norths: [], riichi: "" };
}

/**
 * The state after a message. Messages of other types (`error`, `hello`, `none`, …) change nothing.
 * @param {State} state
 * @param {Message} message
 * @returns {State}
 * @throws {MjaiError} for a message that is impossible here
 */
export function apply(state, message) {
  const handler = HANDLERS[message.type];
  return handler ? { ...handler(state, message), last: message } : state;
}

/**
 * The states after each message; those that change nothing repeat the state before.
 * @param {Message[]} messages
 * @returns {State[]}
 */
export function states(messages) {
  let state = initial();
  return messages.map((message) => (state = apply(state, message)));
}

/** @type {Record<string, (state: State, message: Message) => State>} */
const HANDLERS = {
  start_game: (_, { names, rules = "", length = "", id = -1 }) => ({
    ...initial(), rules, length, viewer: id,
    seats: names.slice(0, SEATS).map((/** @type {string} */ name) => emptySeat(name, START_POINTS)),
  }), // prettier-ignore

  start_kyoku: (state, { bakaze, kyoku, honba, kyotaku, oya, dora_marker, scores, tehais }) => ({
    ...state, phase: "playing", sticks: kyotaku, doraMarkers: [dora_marker], uradoraMarkers: [], tilesLeft: DRAWS,
    round: {
      wind: bakaze, kyoku, honba, dealer: oya, startScores: scores.slice(0, SEATS),
      index: state.round ? state.round.index + 1 : 0,
    },
    seats: state.seats.map(({ name }, seat) => ({ ...emptySeat(name, scores[seat]), hand: sorted(tehais[seat]) })),
    turn: -1, offer: null, wins: [], draw: null,
  }), // prettier-ignore

  tsumo: (state, { actor, pai }) => ({
    ...withSeat(state, actor, (seat) => ({ ...seat, drawn: pai })),
    tilesLeft: state.tilesLeft - 1, turn: actor, offer: null,
  }), // prettier-ignore

  dahai: (state, { actor, pai, tsumogiri }) => ({
    ...withSeat(state, actor, (seat) => {
      const discard = { tile: pai, tsumogiri, riichi: seat.riichi === "declared", calledBy: -1 };
      return { ...without(seat, [pai], tsumogiri), discards: [...seat.discards, discard] };
    }),
    turn: actor, offer: { actor, tile: pai },
  }), // prettier-ignore

  reach: (state, { actor }) => withSeat(state, actor, (seat) => ({ ...seat, riichi: "declared" })),

  reach_accepted: (state, { actor }) => ({
    ...withSeat(state, actor, (seat) => ({ ...seat, riichi: "accepted", score: seat.score - RIICHI_STICK })),
    sticks: state.sticks + 1,
  }),

  pon: called,
  daiminkan: called,

  kakan: (state, { actor, pai }) => ({
    ...withSeat(state, actor, (seat) => {
      const index = seat.melds.findIndex((meld) => meld.type === "pon" && kind(meld.tiles[0]) === kind(pai));
      if (index < 0) throw new MjaiError(`kakan of ${pai} without its pon`);
      const melds = seat.melds.with(index, {
        ...seat.melds[index], type: "kakan", tiles: [...seat.melds[index].tiles, pai],
      }); // prettier-ignore
      return { ...without(seat, [pai]), melds };
    }),
    turn: actor, offer: { actor, tile: pai },
  }), // prettier-ignore

  ankan: (state, { actor, consumed }) => ({
    ...withSeat(state, actor, (seat) => ({
      ...without(seat, consumed),
      melds: [...seat.melds, { type: "ankan", tiles: sorted(consumed), called: "", target: -1 }],
    })),
    turn: actor, offer: { actor, tile: consumed[0] },
  }), // prettier-ignore

  nukidora: (state, { actor, pai }) => ({
    ...withSeat(state, actor, (seat) => ({ ...without(seat, [pai]), norths: [...seat.norths, pai] })),
    turn: actor, offer: { actor, tile: pai },
  }), // prettier-ignore

  dora: (state, { dora_marker }) => ({ ...state, doraMarkers: [...state.doraMarkers, dora_marker] }),

  hora: (state, message) => ({
    ...withScores(
      withSeat(state, message.actor, (seat) => ({ ...seat, hand: sorted(message.hora_tehais) })),
      message.scores,
    ),
    uradoraMarkers: message.uradora_markers.length ? message.uradora_markers : state.uradoraMarkers,
    sticks: 0, wins: [...state.wins, message],
  }), // prettier-ignore

  ryukyoku: (state, message) => {
    const shown = state.seats.map((seat, index) => {
      const hand = message.tehais[index];
      return hand.includes("?") ? seat : { ...seat, hand: sorted(hand), drawn: "" };
    });
    return { ...withScores({ ...state, seats: shown }, message.scores), draw: message };
  },

  end_kyoku: (state) => ({ ...state, phase: "round_over", offer: null }),

  end_game: (state, { scores, points = null }) => ({ ...withScores(state, scores), phase: "game_over", points }),
};

/** Pon and daiminkan. @param {State} state @param {Message} message @returns {State} */
function called(state, { type, actor, target, pai, consumed }) {
  const taken = withSeat(state, target, (seat) => {
    const last = seat.discards.at(-1);
    if (last?.tile !== pai) throw new MjaiError(`${type} of ${pai}, which seat ${target} has not just discarded`);
    return { ...seat, discards: seat.discards.with(-1, { ...last, calledBy: actor }) };
  });
  /** @type {Meld} */
  const meld = { type: /** @type {"pon" | "daiminkan"} */ (type), tiles: [...sorted(consumed), pai], called: pai, target };
  const after = withSeat(taken, actor, (seat) => ({ ...without(seat, consumed), melds: [...seat.melds, meld] }));
  return { ...after, turn: actor, offer: null };
}

/**
 * The state with one seat changed.
 * @param {State} state
 * @param {number} index
 * @param {(seat: Seat) => Seat} change
 * @returns {State}
 */
function withSeat(state, index, change) {
  if (!(index in state.seats)) throw new MjaiError(`there is no seat ${index}`);
  return { ...state, seats: state.seats.with(index, change(state.seats[index])) };
}

/** @param {State} state @param {number[]} scores @returns {State} */
function withScores(state, scores) {
  return { ...state, seats: state.seats.map((seat, index) => ({ ...seat, score: scores[index] })) };
}

/**
 * A seat without some of its concealed tiles; what it has drawn is part of its hand afterwards.
 * @param {Seat} seat
 * @param {string[]} tiles
 * @param {boolean} drawnOnly only the drawn tile may go
 * @returns {Seat}
 */
function without(seat, tiles, drawnOnly = false) {
  const kept = drawnOnly ? [seat.drawn] : [...seat.hand, ...(seat.drawn ? [seat.drawn] : [])];
  for (const tile of tiles) {
    const index = kept.includes(tile) ? kept.indexOf(tile) : kept.lastIndexOf("?");
    if (index < 0) throw new MjaiError(`${seat.name} has no ${tile}`);
    kept.splice(index, 1);
  }
  return { ...seat, hand: drawnOnly ? seat.hand : sorted(kept), drawn: "" };
}
