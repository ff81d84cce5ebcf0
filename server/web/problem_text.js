/**
 * Errors in the language of the page, by their codes. The words of what is wrong with a record come with this module, those
 * of the server's other errors with `api.js`: a review in a file has no use for them.
 */

import { hasWords, t } from "./words.js";
import "./words_problems.js";

/**
 * What the server says of an error.
 * @typedef {object} Problem
 * @property {string} detail one line, in English
 * @property {string} [code] what is wrong, as a word that stays the same
 * @property {Record<string, string | number>} [values] what stands in the line, where there is a code
 * @property {Codes} [codes] of those values that are lines themselves
 */

/** @typedef {Record<string, Omit<Problem, "detail">>} Codes */

/** An error in the language of the page, where its code has words. @param {Problem} problem @returns {string} */
export function problemText({ detail, code = "", values = {}, codes = {} }) {
  const key = [`error_${code}`, `problem_${code}`].find(hasWords);
  if (!key) return detail;
  const lines = Object.entries(codes).map(([name, line]) => [
    name,
    problemText({ ...line, detail: String(values[name]) }),
  ]);
  return t(key, { ...values, ...Object.fromEntries(lines) });
}

/** What a message of type `error` says. @param {import("./mjai.js").Message} error @returns {string} */
export function errorText(error) {
  return problemText({ ...error, detail: error.message });
}
