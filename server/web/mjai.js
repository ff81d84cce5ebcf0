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
const RANK = new Map(
  "1m 9m 1p 2p 3p 4p 5p 5pr 6p 7p 8p 9p 1s 2s 3s 4s 5s 5sr 6s 7s 8s 9s E S W N P F C ?"
    .split(" ")
    .map((tile, rank) => [tile, rank]),
);

/** A message that cannot follow those before it, or is malformed; `message` is one line. */
export class MjaiError extends Error {}

/**
 * Tiles in the order of a hand.
 * @param {string[]} tiles
 * @returns {string[]}
 * @throws {MjaiError} for what is no tile
 */
export function sorted(tiles) {
  const unknown = tiles.find((tile) => !RANK.has(tile));
  if (unknown !== undefined) throw new MjaiError(`${unknown} is no tile`);
  return tiles.toSorted((a, b) => Number(RANK.get(a)) - Number(RANK.get(b)));
}

/**
 * A tile without its colour: `5p` for `5pr`.
 * @param {string} tile
 */
export function kind(tile) {
  return tile.slice(0, 2);
}

/** The state before `start_game`. @returns {State} */
export function initial() {
  return {
    phase: "before",
    rules: "",
    length: "",
    viewer: -1,
    round: null,
    sticks: 0,
    doraMarkers: [],
    uradoraMarkers: [],
    tilesLeft: 0,
    seats: Array.from({ length: SEATS }, (_, seat) => emptySeat(`seat ${seat}`, START_POINTS)),
    turn: -1,
    offer: null,
    wins: [],
    draw: null,
    points: null,
    last: null,
  };
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
  if (!Object.hasOwn(HANDLERS, message.type)) return state;
  try {
    check(state, message);
    return { ...HANDLERS[message.type](state, message), last: message };
  } catch (error) {
    if (!(error instanceof MjaiError) && !(error instanceof TypeError)) throw error;
    const who = message.actor === undefined ? "" : ` of seat ${message.actor}`;
    const what = error instanceof MjaiError ? error.message : "a key is missing, or has no such value";
    throw new MjaiError(`${message.type}${who}: ${what}`);
  }
}

/**
 * The states after each message; those that change nothing repeat the state before.
 * @param {Message[]} messages
 * @returns {State[]}
 * @throws {MjaiError}
 */
export function states(messages) {
  let state = initial();
  return messages.map((message) => (state = apply(state, message)));
}

// Concealed tiles of a seat, modulo 3, before it may do this.
const WITHOUT_A_DRAW = 1;
const WITH_A_DRAW = 2;
/** @type {Record<string, number>} */
const CONCEALED = {
  tsumo: WITHOUT_A_DRAW,
  pon: WITHOUT_A_DRAW,
  daiminkan: WITHOUT_A_DRAW,
  dahai: WITH_A_DRAW,
  reach: WITH_A_DRAW,
  kakan: WITH_A_DRAW,
  ankan: WITH_A_DRAW,
  nukidora: WITH_A_DRAW,
};
const BETWEEN_ROUNDS = ["start_game", "start_kyoku", "end_game"];

/**
 * Check that a message may come now, as far as the number of tiles tells.
 * @param {State} state
 * @param {Message} message
 */
function check(state, { type, actor }) {
  if ((state.phase === "playing") === BETWEEN_ROUNDS.includes(type)) {
    throw new MjaiError(state.phase === "playing" ? "the round is not over" : "no round is being played");
  }
  if (type in CONCEALED) {
    const { hand, drawn } = seatOf(state, actor);
    const wanted = CONCEALED[type];
    if ((hand.length + (drawn ? 1 : 0)) % 3 !== wanted) {
      throw new MjaiError(wanted === WITH_A_DRAW ? "it has not drawn" : "it has to discard first");
    }
  }
}

/** Players of the same name are numbered, as in the arena. @param {string[]} names */
function distinct(names) {
  return names.map((name, seat) => {
    const before = names.slice(0, seat).filter((other) => other === name).length;
    return before ? `${name}#${before + 1}` : name;
  });
}

/** @type {Record<string, (state: State, message: Message) => State>} */
const HANDLERS = {
  start_game: (_, { names, rules = "", length = "", id = -1 }) => ({
    ...initial(),
    rules,
    length,
    viewer: id,
    seats: distinct(names.slice(0, SEATS)).map((name) => emptySeat(name, START_POINTS)),
  }),

  start_kyoku: (state, { bakaze, kyoku, honba, kyotaku, oya, dora_marker, scores, tehais }) => ({
    ...state,
    phase: "playing",
    round: {
      wind: bakaze,
      kyoku,
      honba,
      dealer: oya,
      index: state.round ? state.round.index + 1 : 0,
      startScores: scores.slice(0, SEATS),
    },
    sticks: kyotaku,
    doraMarkers: [dora_marker],
    uradoraMarkers: [],
    tilesLeft: DRAWS,
    seats: state.seats.map(({ name }, seat) => ({ ...emptySeat(name, scores[seat]), hand: sorted(tehais[seat]) })),
    turn: -1,
    offer: null,
    wins: [],
    draw: null,
  }),

  tsumo: (state, { actor, pai }) => ({
    ...withSeat(state, actor, (seat) => ({ ...seat, drawn: pai })),
    tilesLeft: state.tilesLeft - 1,
    turn: actor,
    offer: null,
  }),

  dahai: (state, { actor, pai, tsumogiri }) => ({
    ...withSeat(state, actor, (seat) => {
      const discard = { tile: pai, tsumogiri, riichi: seat.riichi === "declared", calledBy: -1 };
      return { ...without(seat, [pai], tsumogiri), discards: [...seat.discards, discard] };
    }),
    offer: { actor, tile: pai },
  }),

  reach: (state, { actor }) => withSeat(state, actor, (seat) => ({ ...seat, riichi: "declared" })),

  reach_accepted: (state, { actor }) => ({
    ...withSeat(state, actor, (seat) => ({ ...seat, riichi: "accepted", score: seat.score - RIICHI_STICK })),
    sticks: state.sticks + 1,
  }),

  pon: called,
  daiminkan: called,

  kakan: (state, { actor, pai }) => ({
    ...withSeat(state, actor, (seat) => {
      const index = seat.melds.findIndex((meld) => meld.type === "pon" && kind(meld.called) === kind(pai));
      if (index < 0) throw new MjaiError(`there is no pon of ${kind(pai)}`);
      const pon = seat.melds[index];
      const melds = seat.melds.with(index, { ...pon, type: "kakan", tiles: [...pon.tiles, pai] });
      return { ...without(seat, [pai]), melds };
    }),
    offer: { actor, tile: pai },
  }),

  ankan: (state, { actor, consumed }) => ({
    ...withSeat(state, actor, (seat) => ({
      ...without(seat, consumed),
      melds: [...seat.melds, { type: "ankan", tiles: sorted(consumed), called: "", target: -1 }],
    })),
    offer: { actor, tile: kind(consumed[0]) },
  }),

  nukidora: (state, { actor, pai }) => ({
    ...withSeat(state, actor, (seat) => ({ ...without(seat, [pai]), norths: [...seat.norths, pai] })),
    offer: { actor, tile: pai },
  }),

  dora: (state, { dora_marker }) => ({ ...state, doraMarkers: [...state.doraMarkers, dora_marker] }),

  hora: (state, message) => {
    const { actor, target, pai, hora_tehais, uradora_markers = [] } = message;
    const shown = withSeat(state, actor, (seat) => ({
      ...seat,
      hand: sorted(hora_tehais ?? seat.hand),
      drawn: target === actor ? pai : "",
    }));
    return {
      ...withScores(shown, message),
      uradoraMarkers: uradora_markers.length ? uradora_markers : state.uradoraMarkers,
      sticks: 0,
      wins: [...state.wins, message],
    };
  },

  ryukyoku: (state, message) => {
    const seats = state.seats.map((seat, index) => {
      const hand = message.tehais?.[index] ?? ["?"];
      return hand.includes("?") || !seat.hand.includes("?") ? seat : { ...seat, hand: sorted(hand), drawn: "" };
    });
    return { ...withScores({ ...state, seats }, message), draw: message };
  },

  end_kyoku: (state) => ({ ...state, phase: "round_over", offer: null }),

  end_game: (state, message) => ({
    ...withScores(state, message),
    phase: "game_over",
    sticks: 0,
    points: message.points ?? null,
  }),
};

/** Pon and daiminkan. @param {State} state @param {Message} message @returns {State} */
function called(state, { type, actor, target, pai, consumed }) {
  if (state.offer?.actor !== target || state.offer?.tile !== pai) {
    throw new MjaiError(`seat ${target} has not just discarded ${pai}`);
  }
  const taken = withSeat(state, target, (seat) => {
    const discards = seat.discards.map((discard, index, { length }) =>
      index === length - 1 ? { ...discard, calledBy: actor } : discard,
    );
    return { ...seat, discards };
  });
  /** @type {Meld} */
  const meld = {
    type: /** @type {"pon" | "daiminkan"} */ (type),
    tiles: [...sorted(consumed), pai],
    called: pai,
    target,
  };
  return {
    ...withSeat(taken, actor, (seat) => ({ ...without(seat, consumed), melds: [...seat.melds, meld] })),
    turn: actor,
    offer: null,
  };
}

/** @param {State} state @param {number} index @returns {Seat} */
function seatOf(state, index) {
  const seat = state.seats[index];
  if (!seat) throw new MjaiError("there is no such seat");
  return seat;
}

/**
 * The state with one seat changed.
 * @param {State} state
 * @param {number} index
 * @param {(seat: Seat) => Seat} change
 * @returns {State}
 */
function withSeat(state, index, change) {
  return { ...state, seats: state.seats.with(index, change(seatOf(state, index))) };
}

/** The state with the scores of a message, where it has some. @param {State} state @param {Message} message @returns {State} */
function withScores(state, { scores }) {
  return { ...state, seats: state.seats.map((seat, index) => ({ ...seat, score: scores?.[index] ?? seat.score })) };
}

/**
 * A seat without some of its concealed tiles; what it has drawn is part of its hand afterwards.
 * @param {Seat} seat
 * @param {string[]} tiles
 * @param {boolean} [drawnOnly] only the drawn tile may go
 * @returns {Seat}
 */
function without(seat, tiles, drawnOnly = false) {
  const kept = [...(drawnOnly ? [] : seat.hand), ...(seat.drawn ? [seat.drawn] : [])];
  for (const tile of tiles) {
    const index = kept.includes(tile) ? kept.indexOf(tile) : kept.indexOf("?");
    if (index < 0) throw new MjaiError(drawnOnly ? `it has not drawn ${tile}` : `it does not hold ${tile}`);
    kept.splice(index, 1);
  }
  return { ...seat, hand: drawnOnly ? seat.hand : sorted(kept), drawn: "" };
}
