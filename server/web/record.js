/** Records of games: loaded from the server, packed for it, and laid out as the places a replay can stop at. */

import { readNote } from "./annotations.js";
import { request } from "./api.js";
import { apply, initial, MjaiError } from "./mjai.js";
import { errorText } from "./problem_text.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./mjai.js").State} State */

/**
 * @typedef {object} Place a moment of a game, after a message other than `start_game`
 * @property {Message} message the one that led here
 * @property {State} state
 * @property {string[]} faults of bots between the message before and this one
 * @property {number} round index of its round
 * @property {string} broken why the record cannot be followed from here to the end of the round, "" if it can
 */

/**
 * @typedef {object} RoundPlaces
 * @property {import("./mjai.js").Round} round
 * @property {number} first the place of its `start_kyoku`
 */

const ACTIONS = new Set(["dahai", "reach", "pon", "daiminkan", "kakan", "ankan", "nukidora", "hora", "ryukyoku"]);

/** What can be followed after a place that is broken. */
const FRESH = new Set(["start_kyoku", "end_game"]);

/** What happens in a game, for the marks of the seek bar: type of message -> mark. @type {Record<string, string>} */
const MARKS = {
  hora: "win",
  reach: "riichi",
  pon: "call",
  daiminkan: "call",
  kakan: "call",
  ankan: "call",
};

/**
 * The record of a finished game, with annotations of bots (`ext_bot`) and faults (`error`).
 * @param {string} id
 * @returns {Promise<Message[]>}
 * @throws {import("./api.js").ApiError}
 */
export async function loadRecord(id) {
  const { body } = await request(`/api/games/${encodeURIComponent(id)}/record`);
  const text = await new Response(body?.pipeThrough(new DecompressionStream("gzip"))).text();
  return text.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []));
}

/** A file, gzipped. @param {Blob} file @returns {Promise<Blob>} */
export async function gzip(file) {
  return new Response(file.stream().pipeThrough(new CompressionStream("gzip"))).blob();
}

/** Whether there is anything in an annotation. @param {unknown} annotation */
function saysSomething(annotation) {
  return annotation !== undefined && Object.values(readNote(annotation)).some(({ length }) => length > 0);
}

/** All places of a game, in order. Messages may be added while it is played. */
export class Timeline {
  /** @type {Place[]} */
  places = [];
  /** @type {RoundPlaces[]} */
  rounds = [];
  /** The states at the ends of the rounds. @type {State[]} */
  results = [];
  /** Whether a bot has said something of its moves that is shown before one of them. */
  hasNotes = false;
  #state = initial();
  #broken = false; // whether what comes until the next round is left out
  /** @type {string[]} */
  #faults = [];

  /** @param {Message[]} messages */
  constructor(messages) {
    this.append(messages);
  }

  /** The state after the last message. */
  get latest() {
    return this.#state;
  }

  /** The last place, -1 if there is none yet. */
  get last() {
    return this.places.length - 1;
  }

  /** Add messages; an impossible one and the rest of its round are left out, see `gaps`. @param {Message[]} messages */
  append(messages) {
    for (const message of messages) {
      if (message.type === "error") this.#faults.push(errorText(message));
      else if (this.#follow(message)) this.#add(message);
    }
  }

  /** Follow a message. @param {Message} message @returns {boolean} whether it is possible */
  #follow(message) {
    const isFresh = FRESH.has(message.type);
    if (this.#broken && !isFresh) return false;
    const { phase } = this.#state;
    try {
      this.#state = apply(this.#state, message);
      this.#broken = false;
      return true;
    } catch (error) {
      if (!(error instanceof MjaiError)) throw error;
      this.#broken = true;
      this.#state = { ...this.#state, phase: "round_over" }; // so that the next round may begin
      const place = this.places.at(-1);
      if (place) place.broken ||= error.message;
      return isFresh && phase === "playing" && this.#follow(message); // the end of the round before is missing
    }
  }

  /** Add a message that has been followed. @param {Message} message */
  #add(message) {
    if (message.type === "start_kyoku" && this.#state.round) {
      this.rounds.push({ round: this.#state.round, first: this.places.length });
    }
    if (message.type === "end_kyoku") this.results.push(this.#state);
    if (!this.rounds.length) return;
    const place = { message, state: this.#state, faults: this.#faults, round: this.rounds.length - 1, broken: "" };
    this.places.push(place);
    this.hasNotes ||= saysSomething(this.decision(this.last - 1)?.ext_bot);
    this.#faults = [];
  }

  /** The places after which something is left out. @returns {number[]} */
  get gaps() {
    return this.places.flatMap(({ broken }, place) => (broken ? [place] : []));
  }

  /** The faults to show at a place; those after the last message are shown with it. @param {number} place */
  faults(place) {
    return [...this.places[place].faults, ...(place === this.last ? this.#faults : [])];
  }

  /**
   * The action that is taken next at a place, null if none is.
   * A discard after riichi is none: it is no choice. The reply that the message shows carries the bot's `ext_bot`.
   * @param {number} place
   * @returns {Message | null}
   */
  decision(place) {
    const message = this.places[place + 1]?.message;
    if (!message || !ACTIONS.has(message.type)) return null;
    const { state } = this.places[place];
    return message.type === "dahai" && state.seats[message.actor].riichi === "accepted" ? null : message;
  }

  /**
   * The nearest place before or after one at which a seat decides, the place itself if there is none.
   * @param {number} place
   * @param {number} seat
   * @param {1 | -1} direction
   */
  nextDecision(place, seat, direction) {
    for (let next = place + direction; next >= 0 && next <= this.last; next += direction) {
      if (this.decision(next)?.actor === seat) return next;
    }
    return place;
  }

  /**
   * The start of the next round, or of this one (of the one before, if the place is its start).
   * @param {number} place
   * @param {1 | -1} direction
   */
  nextRound(place, direction) {
    const starts = this.rounds.map(({ first }) => first);
    const found = direction > 0 ? starts.find((first) => first > place) : starts.findLast((first) => first < place);
    return found ?? (direction > 0 ? this.last : 0);
  }

  /** The place of a step of a round; both are brought to ones that exist. @param {number} round @param {number} step */
  placeOf(round, step) {
    const index = Math.min(round, this.rounds.length - 1);
    const end = this.rounds[index + 1]?.first ?? this.places.length;
    return Math.min((this.rounds[index]?.first ?? 0) + step, end - 1);
  }

  /** How many rounds are over at a place. @param {number} place */
  roundsOver(place) {
    const { round, state } = this.places[place];
    return state.phase === "playing" ? round : round + 1;
  }

  /** The scores after a round, which may still be played. @param {number} index @returns {number[]} */
  scoresAfter(index) {
    return this.rounds[index + 1]?.round.startScores ?? this.#state.seats.map(({ score }) => score);
  }

  /** What the seek bar marks. @returns {{place: number, kind: string}[]} */
  marks() {
    return this.places.flatMap(({ message }, place) =>
      message.type in MARKS ? [{ place, kind: MARKS[message.type] }] : [],
    );
  }
}
