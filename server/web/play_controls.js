/** What a player presses: buttons for the legal actions, the switches, the keys. */

import { el } from "./dom.js";
import { kind } from "./mjai.js";
import { play, setSounds, soundsOn } from "./sounds.js";
import { tile } from "./tile.js";
import { t } from "./words.js";

/** @typedef {import("./mjai.js").Message} Message */
/** @typedef {import("./legal.js").Switch} Switch */

/**
 * @typedef {object} Row a kind of action: the word of its button, its key
 * @property {string} word
 * @property {string} key
 */

/** @type {Record<string, Row>} by the type of the reply, in the order of the buttons */
const ROWS = {
  hora: { word: "play_ron", key: "w" },
  reach: { word: "play_reach", key: "r" },
  nukidora: { word: "play_nukidora", key: "n" },
  ankan: { word: "play_kan", key: "k" },
  kakan: { word: "play_kan", key: "k" },
  daiminkan: { word: "play_kan", key: "k" },
  pon: { word: "play_pon", key: "p" },
  ryukyoku: { word: "play_ryukyoku", key: "y" },
  none: { word: "play_none", key: "x" },
};
const TYPES = Object.keys(ROWS);
/** @type {Switch[]} */
const SWITCHES = ["win", "no_calls", "nukidora", "tsumogiri"];
const LASTING = new Set(["win", "nukidora"]); // the others are for one round
const POSITIONS = "1234567890-="; // keys of the tiles of the hand, from the left

/**
 * The buttons for some replies; discards have none.
 * @param {Message[]} allowed
 * @param {(reply: Message) => void} act
 * @returns {HTMLButtonElement[]}
 */
export function actionButtons(allowed, act) {
  return allowed
    .filter(({ type }) => type in ROWS)
    .sort((a, b) => TYPES.indexOf(a.type) - TYPES.indexOf(b.type))
    .map((reply) => {
      const { word, key } = ROWS[reply.type];
      const own = reply.type === "hora" && reply.actor === reply.target;
      const label = t(own ? "play_tsumo" : word);
      const properties = {
        type: "button",
        class: `action action-${reply.type}`,
        "data-key": key,
        onclick: () => act(reply),
      };
      return el("button", properties, el("span", {}, label), el("span", { class: "action-tiles" }, tilesOf(reply)));
    });
}

/** The tiles that tell one pon or kan from another. @param {Message} reply */
function tilesOf({ type, consumed = [], pai }) {
  if (type === "kakan") return [tile(pai)];
  if (type === "ankan" || type === "daiminkan") return [tile(kind(consumed[0]))];
  return consumed.map((/** @type {string} */ name) => tile(name));
}

/** The switches, and which are on. */
export class Switches {
  /** @param {() => void} changed */
  constructor(changed) {
    /** @type {Set<Switch>} */
    this.on = new Set();
    this.buttons = SWITCHES.map((name) =>
      toggle(t(`play_switch_${name}`), false, (on) => {
        if (on) this.on.add(name);
        else this.on.delete(name);
        changed();
      }),
    );
    const sounds = toggle(t("play_sounds"), soundsOn(), (on) => {
      setSounds(on);
      play("call");
    });
    this.element = el(
      "div",
      { class: "play-switches", role: "group", "aria-label": t("play_switches") },
      this.buttons,
      sounds,
    );
  }

  /** A round begins: those for one round go off. */
  newRound() {
    for (const [index, name] of SWITCHES.entries()) {
      if (!LASTING.has(name) && this.on.delete(name)) this.buttons[index].setAttribute("aria-pressed", "false");
    }
  }
}

/**
 * A button that is on or off.
 * @param {string} label
 * @param {boolean} on
 * @param {(on: boolean) => void} changed
 * @param {string | null} [key]
 */
export function toggle(label, on, changed, key = null) {
  const attributes = { type: "button", class: "switch", "aria-pressed": String(on), "data-key": key };
  const button = el("button", attributes, label);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    changed(now);
  });
  return button;
}

/**
 * Keys: arrows and Enter or a number discard a tile, space the drawn one, letters press the buttons.
 * @param {HTMLElement} root of the page
 * @param {() => HTMLElement[]} tiles the tiles of the own hand, the drawn one last
 * @param {() => HTMLElement | null} drawn the drawn tile
 */
export function listenToKeys(root, tiles, drawn) {
  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || target.closest("input, select, textarea, summary")) return;
    const acts = event.key === "Enter" || event.key.length === 1;
    // A key that is held down must not discard the next drawn tile, too.
    if ((event.repeat && acts) || keyPressed(event.key, root, tiles(), drawn())) event.preventDefault();
  });
}

/**
 * Do what a key says. Returns whether it says something.
 * @param {string} key
 * @param {HTMLElement} root
 * @param {HTMLElement[]} hand
 * @param {HTMLElement | null} drawn
 */
function keyPressed(key, root, hand, drawn) {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  if (document.querySelector("dialog[open]")) return false; // its button has the focus
  const opened = key === "Escape" && root.querySelector(".play-tools [aria-expanded=true]"); // the keys are shown
  const letter = opened ? "?" : key === "Escape" ? "x" : key.toLowerCase();
  const buttons = /** @type {HTMLElement[]} */ ([
    ...root.querySelectorAll(`[data-key="${CSS.escape(letter)}"]:not([hidden])`),
  ]);
  if (buttons.length === 1) buttons[0].click();
  else if (buttons.length > 1) buttons[(buttons.indexOf(focused) + 1) % buttons.length].focus();
  else if (key === " " && drawn && !focused.closest(".actions, .play-switches, .play-tools, header")) drawn.click();
  else if (key === "ArrowLeft" || key === "ArrowRight") return moveFocus(hand, focused, key === "ArrowLeft" ? -1 : 1);
  else if (key.length === 1 && POSITIONS.includes(key)) hand[POSITIONS.indexOf(key)]?.click();
  else return false;
  return true;
}

/**
 * Move the focus among the tiles that may be discarded; the first time it goes to the last one.
 * @param {HTMLElement[]} hand
 * @param {HTMLElement} focused
 * @param {number} step
 */
function moveFocus(hand, focused, step) {
  const able = hand.filter((each) => !each.matches(":disabled"));
  if (!able.length) return false;
  const at = able.indexOf(focused);
  const next = at < 0 ? able.length - 1 : (at + step + able.length) % able.length;
  able[next].focus();
  return true;
}
