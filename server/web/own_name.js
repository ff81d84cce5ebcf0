/** The name that a person plays under, kept by the browser. */

import { el } from "./dom.js";
import { browserStorage } from "./storage.js";

const KEY = "nukidora.name"; // of the browser's storage
const MAX_LENGTH = 64; // characters, as for bots

/** The name given last, "" for none. */
export function ownName() {
  return browserStorage.getItem(KEY) ?? "";
}

/** @param {string} name */
export function setOwnName(name) {
  browserStorage.setItem(KEY, name);
}

/** A field for the name. @param {string | null} [placeholder] */
export function nameInput(placeholder = null) {
  return el("input", {
    name: "name",
    value: ownName(),
    required: true,
    maxlength: MAX_LENGTH,
    pattern: ".*\\S.*",
    autocomplete: "nickname",
    placeholder,
  });
}
