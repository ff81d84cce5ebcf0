/** What the views of reviews share: the states of a game, and a region that scrolls. */

import { apply, initial, MjaiError } from "./mjai.js";

/** @typedef {import("./mjai.js").Message} Message */

export const REGION = { class: "scroll", tabindex: 0, role: "region" }; // that may be scrolled, with the keyboard too

/**
 * The states after each message. One that is impossible changes nothing: the rest of its round has no decisions.
 * @param {Message[]} messages
 */
export function followed(messages) {
  let state = initial();
  return messages.map((message) => {
    try {
      state = apply(state, message);
    } catch (error) {
      if (!(error instanceof MjaiError)) throw error;
    }
    return state;
  });
}
