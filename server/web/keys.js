/** Keys that pages listen to. */

/**
 * The name of a key that is pressed: a letter in lower case, `Shift+ArrowLeft` for an arrow with Shift.
 * @param {KeyboardEvent} event
 * @returns {string} "" with Ctrl, Alt or Meta: those keys are the browser's
 */
export function keyName({ key, ctrlKey, altKey, metaKey, shiftKey }) {
  if (ctrlKey || altKey || metaKey) return "";
  if (key.length === 1) return key.toLowerCase();
  return shiftKey && key.startsWith("Arrow") ? `Shift+${key}` : key;
}
