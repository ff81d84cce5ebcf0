/** Makes elements. Text is always set as text, so that a name like `<img onerror=…>` stays one. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An HTML element: `el("a", { href: "/", class: "button", onclick: play }, "Play")`.
 * Properties that begin with `on` are listeners, `true` sets an attribute, `false` and null leave it out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...nodes(children));
  return element;
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return children.flat().flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return [typeof child === "number" ? String(child) : child];
  });
}

/**
 * The same with SVG elements.
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/**
 * Set the text of an element where it differs.
 * @param {Element} element
 * @param {string | number} text
 */
export function setText(element, text) {
  if (element.textContent !== String(text)) element.textContent = String(text);
}

/**
 * Set an attribute where it differs.
 * @param {Element} element
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * The parts of a name in an element of the class `cut-name`: where it is too long, the first one is cut, and the number
 * stays that tells two players apart, as in `rule (house) #2`.
 * @param {string} name
 */
export function nameParts(name) {
  const start = name.replace(/ ?#\d+$/, "");
  return [el("span", {}, start), el("span", {}, name.slice(start.length))];
}
