/** Numbers and times as all pages write them. */

import { language } from "./words.js";

const MISSING = "–"; // shown for a mean of nothing

/**
 * A number with some digits after the point.
 * @param {number | null} value null: there is none
 * @param {number} [digits]
 */
export function number(value, digits = 0) {
  if (value === null) return MISSING;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString(language(), options).replace("-", "−");
}

/** A number with its sign. @param {number | null} value @param {number} [digits] */
export function signed(value, digits = 0) {
  return `${value !== null && value > 0 ? "+" : ""}${number(value, digits)}`;
}

/** A share of 1. @param {number | null} value */
export function percent(value) {
  return value === null ? MISSING : value.toLocaleString(language(), { style: "percent", minimumFractionDigits: 1 });
}

/** A day, and the time if it is wanted. @param {string} time ISO 8601 @param {boolean} [exact] */
export function dateText(time, exact = false) {
  return new Date(time).toLocaleString(language(), { dateStyle: "medium", timeStyle: exact ? "short" : undefined });
}
