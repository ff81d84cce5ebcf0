/** The browser's storage; the page's own memory where the browser blocks it. */

/** @typedef {Pick<Storage, "getItem" | "setItem" | "removeItem">} Area */

class Memory {
  /** @type {Map<string, string>} */
  #values = new Map();

  /** @param {string} key */
  getItem(key) {
    return this.#values.get(key) ?? null;
  }

  /** @param {string} key @param {string} value */
  setItem(key, value) {
    this.#values.set(key, value);
  }

  /** @param {string} key */
  removeItem(key) {
    this.#values.delete(key);
  }
}

/** @param {"localStorage" | "sessionStorage"} name @returns {Area} */
function area(name) {
  try {
    return window[name];
  } catch {
    return new Memory(); // cookies are blocked for this site
  }
}

/** Kept for good. */
export const browserStorage = area("localStorage");
/** Kept until the browser's tab is closed. */
export const tabStorage = area("sessionStorage");
