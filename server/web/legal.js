/** What may be replied to a question of the server, from the state and the message that asks (docs/protocol.md). */

import { waitsAfterDiscards } from "./waits.js";

/** @typedef {import("./mjai.js").State} State */
/** @typedef {import("./mjai.js").Message} Message */

/**
 * All replies to a message with `can_act`. The discards come first.
 * @param {State} state after the message
 * @param {Message} message
 * @returns {Message[]}
 */
export function replies(state, message) {
  const actor = state.viewer;
  const { type, possible_actions: offered = [] } = message;
  if (message.actor !== actor) return [...offered, { type: "none", actor }];
  return [...(type in DISCARDS ? DISCARDS[type](state, message) : []), ...offered];
}

/** @type {Record<string, (state: State, message: Message) => Message[]>} own messages that a discard follows */
const DISCARDS = {
  tsumo: (state) => (state.seats[state.viewer].riichi ? [tsumogiri(state)] : discards(state, [])),
  pon: (state, message) => discards(state, message.cannot_dahai ?? []),
  reach: (state, message) => discards(state, message.cannot_dahai ?? []),
};

/** @param {State} state @param {string[]} barred tiles that may not be discarded @returns {Message[]} */
function discards(state, barred) {
  const { hand, drawn } = state.seats[state.viewer];
  const names = [...new Set(hand)].filter((name) => !barred.includes(name));
  const tedashi = names.map((pai) => ({ type: "dahai", actor: state.viewer, pai, tsumogiri: false }));
  return drawn && !barred.includes(drawn) ? [...tedashi, tsumogiri(state)] : tedashi;
}

/** @param {State} state @returns {Message} */
function tsumogiri(state) {
  return { type: "dahai", actor: state.viewer, pai: state.seats[state.viewer].drawn, tsumogiri: true };
}

/**
 * The discards that may declare riichi, before it is declared.
 * @param {State} state in which the viewer may declare riichi
 * @returns {Message[]}
 */
export function riichiDiscards(state) {
  const tenpai = waitsAfterDiscards(state.seats[state.viewer]);
  return discards(state, []).filter(({ pai }) => tenpai.has(pai));
}

/**
 * What the table lets a player click: `playable` of `TableOptions`.
 * @param {Message[]} allowed replies, of which the discards count
 */
export function playable(allowed) {
  const dahai = allowed.filter(({ type }) => type === "dahai");
  return {
    hand: dahai.filter((reply) => !reply.tsumogiri).map(({ pai }) => pai),
    drawn: dahai.some((reply) => reply.tsumogiri),
  };
}

/** @typedef {"win" | "no_calls" | "nukidora" | "tsumogiri"} Switch what is done without asking */

/**
 * What the switches reply, null where the player is to decide. A win is never passed by a switch.
 * @param {Message[]} allowed
 * @param {Set<Switch>} switches those that are on
 * @returns {Message | null}
 */
export function automatic(allowed, switches) {
  const find = (/** @type {string} */ type) => allowed.find((reply) => reply.type === type) ?? null;
  const win = find("hora");
  if (win) return switches.has("win") ? win : null;
  if (switches.has("no_calls") && find("none")) return find("none");
  if (switches.has("nukidora") && find("nukidora")) return find("nukidora");
  const drawn = allowed.find((reply) => reply.tsumogiri) ?? null;
  return switches.has("tsumogiri") ? drawn : null;
}
