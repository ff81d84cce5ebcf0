/** Games being played, as spectators see them: a WebSocket that sends a game from its start on. */

import { socketAddress } from "./api.js";

/** @typedef {import("./mjai.js").Message} Message */

const QUIET = 80; // milliseconds without a message after which the history is taken to be complete
const LONGEST = 600; // milliseconds: a fast game is never quiet

/**
 * Listen to a game until the connection is closed. Messages come in batches, so that the page draws the history
 * once, and from then on at most once a frame.
 * @param {string} id
 * @param {"open" | "closed"} hands closed: every event at once; open: each round when it is over
 * @param {(messages: Message[], first: boolean) => void} receive `first`: the batch begins with `start_game`
 * @param {AbortSignal} signal closes the connection; nothing is received after it
 * @returns {Promise<void>} resolved when the connection is closed
 */
export function spectate(id, hands, receive, signal) {
  const socket = new WebSocket(socketAddress(`/api/games/${encodeURIComponent(id)}/events?hands=${hands}`));
  /** @type {Message[]} */
  let batch = [];
  let first = true;
  let since = 0; // when the history began to arrive
  let timer = 0;

  const flush = () => {
    clearTimeout(timer);
    timer = 0;
    if (!batch.length || signal.aborted) return;
    const messages = batch;
    batch = [];
    receive(messages, first);
    first = false;
  };

  socket.onmessage = ({ data }) => {
    batch.push(JSON.parse(data));
    since ||= performance.now();
    if (!first) {
      if (batch.length === 1) requestAnimationFrame(flush);
    } else if (performance.now() - since > LONGEST) flush();
    else {
      clearTimeout(timer);
      timer = setTimeout(flush, QUIET);
    }
  };

  signal.addEventListener("abort", () => socket.close());
  return new Promise((resolve) => {
    socket.onclose = () => {
      flush();
      resolve();
    };
  });
}
