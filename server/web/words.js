/** The words of the pages, in English and Japanese. */

import { browserStorage } from "./storage.js";

/** @typedef {"en" | "ja"} Language */
/** @typedef {Record<string, string>} Words */

const KEY = "nukidora.language"; // of the browser's storage
/** @type {Record<Language, Words>} */
const WORDS = { en: {}, ja: {} };

/** The one chosen, else the browser's; the same until the page is loaded again. @type {Language} */
const LANGUAGE = (browserStorage.getItem(KEY) ?? navigator.language).startsWith("ja") ? "ja" : "en";

/** The language of the page. @returns {Language} */
export function language() {
  return LANGUAGE;
}

/** Whether there are words for a key. @param {string} key */
export function hasWords(key) {
  return Object.hasOwn(WORDS[LANGUAGE], key);
}

/** @param {Language} chosen shown once the page is loaded again */
export function setLanguage(chosen) {
  browserStorage.setItem(KEY, chosen);
}

/** Add the words of a page; both languages have the same keys. @param {Record<Language, Words>} words */
export function addWords(words) {
  Object.assign(WORDS.en, words.en);
  Object.assign(WORDS.ja, words.ja);
}

/**
 * The text of a key, with `{name}` replaced by the value of that name.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  const text = WORDS[LANGUAGE][key];
  if (text === undefined) throw new Error(`no words for ${key}`);
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
