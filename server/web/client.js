/**
 * A person's mjai client: joins a room over WebSocket, follows its game, replies once to each question, and comes back
 * into the game after a lost connection or a reload of the page (docs/protocol.md).
 */

import { socketAddress } from "./api.js";
import { errorText } from "./problem_text.js";
import { tabStorage } from "./storage.js";

/** @typedef {import("./mjai.js").Message} Message */

/**
 * @typedef {object} Saved what is kept of a game until the tab is closed
 * @property {string} secret to resume it with
 * @property {string} game its id
 * @property {number} seat
 * @property {boolean} over
 * @property {number} bank seconds left in the bank, -1: all of them
 * @property {{index: number, at: number} | null} asked the open question: number of its message, time in ms
 */

/**
 * @typedef {object} Listener what the page does when something happens
 * @property {(message: Message, live: boolean) => void} received the next message of the game; not live: one of those
 *   that tell a page what happened before it was loaded
 * @property {(message: Message) => void} asked a message of the game, received just before, asks for a reply
 * @property {(joined: Message) => void} waiting for the game to begin
 * @property {(hint: Message) => void} hinted the answer to `askHint`
 * @property {(text: string) => void} fault a line about a reply that was late or wrong
 * @property {(text: string) => void} refused the join was refused
 * @property {(text: string) => void} stopped the server has closed the connection for a reason, and may let us back
 * @property {() => void} gone the game cannot be resumed any more
 * @property {() => void} resumed the connection is back in the game
 * @property {(why: string) => void} reconnecting the connection is lost, "" or the server asks to join again
 */

const MAX_DELAY = 8000; // ms between two attempts to connect
const FIRST_DELAY = 300;
const LEAVE_TIME = 2000; // ms that the server has to take note of a player who leaves

export class Client {
  /** @param {string} room @param {Listener} listener */
  constructor(room, listener) {
    this.room = room;
    this.listener = listener;
    /** @type {Saved | null} */
    this.saved = null;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.identity = { name: "", token: "" };
    this.count = 0; // messages of the game that are known
    this.next = 0; // number of the next message of the game
    this.attempts = 0;
    this.timer = 0;
    /** The last question: number of its message, the reply once there is one. @type {{index: number, reply: Message | null}} */
    this.question = { index: -1, reply: null };
    this.open = false; // this connection waits for a reply
    this.liveFrom = 0; // number of the first message that came after the last question before the page was loaded
    this.refusal = /** @type {Message | null} */ (null); // the last message, if it was an error
    addEventListener("offline", () => this.#lost(""));
    addEventListener("online", () => this.#connectNow());
  }

  /** The game kept by this tab, if any: a reload of the page comes back into it. @returns {Saved | null} */
  kept() {
    const text = tabStorage.getItem(this.#key);
    return text ? JSON.parse(text) : null;
  }

  /** Forget the game of this tab, and wait for a new one. @param {string} name @param {string} token "" for none */
  join(name, token) {
    this.saved = null;
    this.count = 0;
    this.liveFrom = 0;
    this.question = { index: -1, reply: null };
    tabStorage.removeItem(this.#key);
    this.identity = { name, token };
    this.#start();
  }

  /** Come back into the game that is kept. */
  resumeKept() {
    this.saved = this.kept();
    this.liveFrom = (this.saved?.asked?.index ?? -1) + 1;
    this.#start();
  }

  /**
   * Reply to the open question; nothing is sent if there is none.
   * @param {Message} message
   * @returns {boolean} whether it was sent
   */
  reply(message) {
    if (!this.open || this.question.reply || this.socket?.readyState !== WebSocket.OPEN) return false;
    this.question.reply = message;
    this.open = false;
    this.#send(message);
    return true;
  }

  /** Ask what a house bot would reply to the open question. */
  askHint() {
    if (!this.open || this.socket?.readyState !== WebSocket.OPEN) return;
    this.#send({ type: "hint" });
  }

  /**
   * Leave the game: a house bot plays on at once, or without a connection once the time to come back is over. Resolves
   * when the server has taken note of it.
   * @returns {Promise<void>}
   */
  async leave() {
    const { socket } = this;
    clearTimeout(this.timer);
    tabStorage.removeItem(this.#key);
    this.saved = this.socket = null; // nothing connects again
    this.open = false;
    if (!socket) return;
    socket.onmessage = null;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "leave" }));
    await new Promise((resolve) => {
      socket.onclose = resolve;
      setTimeout(resolve, LEAVE_TIME);
    });
  }

  /** Keep what is known of the game. @param {Partial<Saved>} changes */
  save(changes) {
    if (!this.saved) return;
    this.saved = { ...this.saved, ...changes };
    tabStorage.setItem(this.#key, JSON.stringify(this.saved));
  }

  get #key() {
    return `nukidora.game.${this.room}`;
  }

  #start() {
    this.attempts = 0;
    this.#connect();
  }

  #connectNow() {
    if (!this.timer) return;
    this.#start();
  }

  #connect() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.#drop();
    this.open = false;
    this.refusal = null;
    this.next = 0;
    const socket = new WebSocket(socketAddress(`/mjai/${encodeURIComponent(this.room)}`));
    this.socket = socket;
    socket.onmessage = ({ data }) => this.#received(JSON.parse(data));
    socket.onclose = ({ wasClean }) => this.#closed(wasClean);
  }

  /** Forget the connection, so that nothing more comes from it. */
  #drop() {
    if (!this.socket) return;
    this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.socket = null;
  }

  /** @param {Message} message */
  #send(message) {
    this.socket?.send(JSON.stringify(message));
  }

  /** @param {Message} message */
  #received(message) {
    const handler = SERVER_MESSAGES[message.type];
    this.refusal = message.type === "error" ? message : null;
    if (handler) handler.call(this, message);
    else this.#gameMessage(message);
  }

  /** The message that begins a connection. */
  sendJoin() {
    const { name, token } = this.identity;
    const own = { type: "join", reply: "when_asked", dialect: "mjai3p", joined: true };
    this.#send(
      this.saved
        ? { ...own, resume: this.saved.secret, seen: this.count }
        : { ...own, name, resume: true, ...(token ? { token } : {}) },
    );
  }

  /** @param {Message} message */
  #gameMessage(message) {
    if (this.open) {
      this.open = false; // the server has acted, and waits for the late reply all the same
      this.#send({ type: "none" });
    }
    if (message.resume) {
      this.saved = {
        secret: message.resume,
        game: message.game,
        seat: message.id,
        over: false,
        bank: -1,
        asked: null,
      };
      this.save({});
    }
    const index = this.next++;
    if (index === this.count) {
      this.count++;
      this.listener.received(message, index >= this.liveFrom);
    }
    if (message.type === "end_game") this.save({ over: true });
    if (message.can_act) this.#asked(index, message);
  }

  /** A question; one that has been replied to before the connection was lost gets the same reply. */
  #asked(/** @type {number} */ index, /** @type {Message} */ message) {
    this.open = true;
    const { reply } = this.question;
    if (this.question.index === index && reply) {
      this.question.reply = null;
      this.reply(reply);
      return;
    }
    this.question = { index, reply: null };
    if (this.saved?.asked?.index !== index) this.save({ asked: { index, at: Date.now() } });
    this.listener.asked(message);
  }

  /** @param {boolean} wasClean whether the server has closed the connection */
  #closed(wasClean) {
    const { refusal } = this;
    if (this.saved?.over) return;
    if (!wasClean || !refusal || refusal.retry) return this.#lost(refusal ? errorText(refusal) : "");
    this.#drop(); // so that losing the network later does not connect again
    if (this.next > 0) this.listener.stopped(errorText(refusal));
    else if (this.saved) this.listener.gone();
    else this.listener.refused(errorText(refusal));
  }

  /** Connect again after a while. @param {string} why */
  #lost(why) {
    if (!this.socket || this.saved?.over) return;
    this.#drop();
    this.open = false;
    const delay = Math.min(MAX_DELAY, FIRST_DELAY * 2 ** this.attempts++);
    this.timer = setTimeout(() => this.#connect(), delay * (1 + Math.random() / 2));
    this.listener.reconnecting(why);
  }
}

/** @type {Record<string, (this: Client, message: Message) => void>} messages that are no part of the game */
const SERVER_MESSAGES = {
  hello() {
    this.sendJoin();
  },
  joined(message) {
    this.attempts = 0;
    this.listener.waiting(message);
  },
  resumed({ from }) {
    this.attempts = 0;
    this.next = from;
    this.listener.resumed();
  },
  hinted(message) {
    this.listener.hinted(message);
  },
  error(message) {
    this.listener.fault(errorText(message));
  },
};
