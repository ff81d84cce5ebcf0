/** The browser's storage; the page's own memory where the browser blocks it. */

/** @typedef {Pick<Storage, "getItem" | "setItem" | "removeItem">} Area */

const PROBE = "nukidora.probe"; // key that is written and removed

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
    const found = window[name];
    found.setItem(PROBE, "");
    found.removeItem(PROBE);
    return found;
  } catch {
    return new Memory(); // cookies are blocked for this site, or the storage is full
  }
}

/** Kept for good, where the browser allows it. */
export const browserStorage = area("localStorage");
/** Kept until the browser's tab is closed. */
export const tabStorage = area("sessionStorage");
