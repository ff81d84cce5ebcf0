/** Looks at the server again and again while the page can be seen. */

import { addWords, t } from "./words.js";

addWords({
  en: { poll_trouble: "{problem} – trying again in {wait} s" },
  ja: { poll_trouble: "{problem} – {wait}秒後に再試行します" },
});

const MAX_WAIT = 60; // seconds

/**
 * Call `look` now and every so many seconds, but not while the page is hidden. After an error the wait doubles, up to a
 * minute.
 * @param {() => Promise<void>} look reads and draws
 * @param {number} every seconds between the end of a look and the next
 * @param {(trouble: string) => void} tell is called after each look with what went wrong, in a line; "": nothing did
 * @returns {() => Promise<void>} looks at once, or after the look that is going on
 */
export function poll(look, every, tell) {
  let wait = every;
  let looking = false;
  let asked = false; // to look again after the look that is going on
  let timer = 0;

  async function turn() {
    clearTimeout(timer);
    asked = looking;
    if (document.hidden || looking) return;
    looking = true;
    try {
      await look();
      wait = every;
      tell("");
    } catch (error) {
      wait = Math.min(2 * wait, MAX_WAIT);
      tell(t("poll_trouble", { problem: /** @type {Error} */ (error).message, wait }));
    }
    looking = false;
    timer = setTimeout(turn, asked ? 0 : 1000 * wait);
  }

  document.addEventListener("visibilitychange", turn);
  turn();
  return turn;
}
