/** Questions in a dialog: yes or no, and the token, which is asked for once. */

import { ApiError, setToken, token } from "./api.js";
import { el } from "./dom.js";
import { addWords, t } from "./words.js";

addWords({
  en: {
    ask_cancel: "Cancel",
    ask_token_title: "This server needs a token",
    ask_token_text: "The operator of the server gives it to you. It is kept until you close this tab.",
    ask_token: "Token",
    ask_token_send: "Go on",
  },
  ja: {
    ask_cancel: "キャンセル",
    ask_token_title: "このサーバーではトークンが必要です",
    ask_token_text: "トークンはサーバーの管理者が発行します。このタブを閉じるまで保持されます。",
    ask_token: "トークン",
    ask_token_send: "続ける",
  },
});

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {string} text
 * @property {string} send what the button says that agrees
 * @property {string} [field] label of a field to fill in, whose content is hidden
 * @property {string} [problem] what was wrong with the answer before
 */

/**
 * Ask in a dialog.
 * @param {Question} question
 * @returns {Promise<string | null>} what is in the field, "" without one; null: cancelled
 */
export function ask({ title, text, send, field, problem }) {
  const input = el("input", { type: "password", name: "answer", autocomplete: "off", required: true });
  const cancel = el("button", { type: "button", onclick: () => dialog.close() }, t("ask_cancel"));
  const form = el(
    "form",
    { class: "ask", onsubmit: agreed },
    el("h2", { id: "ask-title" }, title),
    el("p", {}, text),
    field && el("label", { class: "field" }, field, input),
    problem && el("p", { class: "bad", role: "alert" }, problem),
    el("div", { class: "row" }, el("button", { class: "primary" }, send), cancel),
  );
  const dialog = el("dialog", { "aria-labelledby": "ask-title" }, form);
  /** @type {string | null} */
  let answer = null;

  /** @param {Event} event */
  function agreed(event) {
    event.preventDefault();
    answer = input.value.trim();
    dialog.close();
  }

  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
  });
}

/**
 * Do what may need a token. Where it does, the token is asked for first, and again if the server refuses it.
 * @template Result
 * @param {boolean} needed
 * @param {() => Promise<Result>} act
 * @returns {Promise<Result | null>} null: cancelled
 * @throws {ApiError}
 */
export async function withToken(needed, act) {
  let problem = "";
  for (;;) {
    if (needed && (!token() || problem)) {
      const given = await askToken(problem);
      if (given === null) return null;
      setToken(given);
    }
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof ApiError && [401, 403].includes(error.status))) throw error;
      if (error.status === 401) setToken(""); // it is unknown: of no use elsewhere
      if (!needed) throw error;
      problem = error.message;
    }
  }
}

/** @param {string} problem @returns {Promise<string | null>} */
function askToken(problem) {
  const words = { title: t("ask_token_title"), text: t("ask_token_text"), send: t("ask_token_send") };
  return ask({ ...words, field: t("ask_token"), problem });
}
