/** Requests to the server's HTTP API (docs/api.md). */

import { problemText } from "./problem_text.js";
import { tabStorage } from "./storage.js";
import { addWords, t } from "./words.js";
import "./words_errors.js";

addWords({
  en: { api_unreachable: "the server cannot be reached ({problem})" },
  ja: { api_unreachable: "サーバーに接続できません（{problem}）" },
});

const TOKEN = "nukidora.token"; // key of the tab's storage

/**
 * @typedef {object} ServerInfo what `GET /api/server` returns
 * @property {number} mjai_port
 * @property {boolean} tokens_needed
 * @property {string[]} house_bots
 * @property {Record<string, number>} weakest the lowest strength of those that can play weaker
 * @property {Record<string, number>} ratings points of those that play on the ladder, 0 on average
 * @property {string[]} review_bots those that can review
 * @property {boolean} puzzle whether there may be one today
 */

/** @typedef {import("./problem_text.js").Problem} Problem */

/** The server has refused a request, or cannot be reached; `message` is one line to show. */
export class ApiError extends Error {
  /** @param {Problem} problem @param {number} status 0: not reached */
  constructor(problem, status) {
    super(problemText(problem));
    this.status = status;
    this.problem = problem;
  }

  /** The same line on a page that calls the value at fault by a label. @param {string} label @returns {string} */
  about(label) {
    return problemText({ ...this.problem, values: { ...this.problem.values, where: label, setting: label } });
  }
}

/** The token that requests carry, "" for none; kept until the browser's tab is closed. */
export function token() {
  return tabStorage.getItem(TOKEN) ?? "";
}

/** @param {string} value */
export function setToken(value) {
  tabStorage.setItem(TOKEN, value);
}

/**
 * The response to a request, which has succeeded.
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 * @throws {ApiError}
 */
export async function request(path, options = {}) {
  const headers = new Headers(options.headers);
  if (token()) headers.set("Authorization", `Bearer ${token()}`);
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    throw new ApiError({ detail: t("api_unreachable", { problem: /** @type {Error} */ (error).message }) }, 0);
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  throw new ApiError({ ...problem, detail: problem.detail ?? response.statusText }, response.status);
}

/** The JSON at a path. @param {string} path @returns {Promise<any>} @throws {ApiError} */
export async function get(path) {
  return (await request(path)).json();
}

/** Send JSON, and return the JSON of the response. @param {string} path @param {unknown} body @returns {Promise<any>} */
export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await request(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** The address of a WebSocket of this server. @param {string} path */
export function socketAddress(path) {
  return location.origin.replace(/^http/, "ws") + path;
}
