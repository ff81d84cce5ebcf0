/** Sounds made in the page: short tones and knocks; off until a player wants them. */

import { browserStorage } from "./storage.js";

const KEY = "nukidora.sounds"; // of the browser's storage

/** @typedef {"discard" | "call" | "riichi" | "win" | "ask" | "hurry"} Sound */

/**
 * @typedef {object} Tone
 * @property {OscillatorType} wave
 * @property {number[]} notes frequencies in Hz, one after the other
 * @property {number} length seconds of each
 * @property {number} volume 0 to 1
 */

/** @type {Record<Sound, Tone>} */
const TONES = {
  discard: { wave: "triangle", notes: [210], length: 0.05, volume: 0.5 },
  call: { wave: "triangle", notes: [440, 587], length: 0.08, volume: 0.4 },
  riichi: { wave: "triangle", notes: [523, 659, 784], length: 0.1, volume: 0.4 },
  win: { wave: "triangle", notes: [523, 659, 784, 1047], length: 0.14, volume: 0.4 },
  ask: { wave: "sine", notes: [660], length: 0.09, volume: 0.25 },
  hurry: { wave: "square", notes: [880], length: 0.05, volume: 0.12 },
};

/** @type {AudioContext | null} */
let audio = null;

/** Whether sounds are on. */
export function soundsOn() {
  return browserStorage.getItem(KEY) === "on";
}

/** @param {boolean} on */
export function setSounds(on) {
  browserStorage.setItem(KEY, on ? "on" : "off");
}

/** Make a sound, if they are on. @param {Sound} name */
export function play(name) {
  if (!soundsOn() || !navigator.userActivation.hasBeenActive) return; // browsers allow none before a click or key
  audio ??= new AudioContext();
  const { wave, notes, length, volume } = TONES[name];
  for (const [number, frequency] of notes.entries()) {
    const start = audio.currentTime + number * length;
    const gain = new GainNode(audio, { gain: volume });
    gain.gain.setValueAtTime(volume, start);
    gain.gain.exponentialRampToValueAtTime(0.001, start + length);
    const tone = new OscillatorNode(audio, { type: wave, frequency });
    tone.connect(gain).connect(audio.destination);
    tone.start(start);
    tone.stop(start + length);
  }
}
