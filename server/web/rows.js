/** Lists that change in place: what stays is neither drawn again nor moved, so that nothing flickers or loses focus. */

/**
 * @template Item
 * @typedef {object} Row
 * @property {Element} element
 * @property {(item: Item) => void} update shows an item
 */

/**
 * A list whose rows follow its items.
 * @template Item
 * @param {Element} list is filled
 * @param {(item: Item) => string} key tells the items apart
 * @param {() => Row<Item>} make an empty row
 * @returns {(items: Item[]) => void} shows other items
 */
export function rows(list, key, make) {
  /** @type {Map<string, Row<Item>>} */
  let shown = new Map();
  return (items) => {
    const next = new Map(items.map((item) => [key(item), shown.get(key(item)) ?? make()]));
    for (const [name, row] of shown) if (!next.has(name)) row.element.remove();
    let place = list.firstElementChild;
    for (const item of items) {
      const { element, update } = /** @type {Row<Item>} */ (next.get(key(item)));
      update(item);
      if (element === place) place = place.nextElementSibling;
      else list.insertBefore(element, place);
    }
    shown = next;
  };
}
