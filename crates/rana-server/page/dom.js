// Small helpers for making elements. Everything the server sends reaches the
// page through textContent or setAttribute here, never as markup.

export const $ = (id) => document.getElementById(id);

/** Makes an element. `on` holds listeners, a `false`/`null` attribute is left out. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG, which needs its namespace. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, { on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export function button(text, onClick, attributes = {}) {
  return el("button", { type: "button", ...attributes, on: { click: onClick } }, text);
}

/** Label of an entity, with its name small beside it when that says more. */
export function entityNode(entity) {
  const name = entity.label === entity.name ? null : el("small", { class: "name" }, entity.name);
  return el(
    "span",
    { class: "entity" },
    el("span", { class: "label" }, breakable(entity.label)),
    name ? " " : null,
    name,
  );
}

/** Text that may break after underscores and the like, as names of graphs are long. */
export function breakable(text) {
  return text.split(/(?<=[_/.:-])/).flatMap((piece, index) => (index ? [el("wbr"), piece] : [piece]));
}

export function pairNode(head, tail) {
  return el(
    "span",
    { class: "pair-text" },
    entityNode(head),
    el("span", { class: "arrow", "aria-label": "to" }, " → "),
    entityNode(tail),
  );
}

export const pairText = (head, tail) => `${head.label} → ${tail.label}`;

const counts = new Intl.NumberFormat("en");
export const count = (n, one, many = `${one}s`) => `${counts.format(n)} ${n === 1 ? one : many}`;

/** A percentage that never rounds to a certainty the model does not claim. */
export function percent(share) {
  if (share > 0.99 && share < 1) return "> 99%";
  if (share > 0 && share < 0.01) return "< 1%";
  return `${Math.round(share * 100)}%`;
}

/** Says something once in the status line, which screen readers announce. */
export function say(text) {
  $("status").textContent = text;
}

/**
 * Shows a problem in its place: what is wrong, what to do, and the suggestions
 * as buttons. `suggestions` may be names or entities.
 */
export function showProblem(slot, problem, onSuggestion, retry) {
  const choices = onSuggestion ? (problem.suggestions ?? []) : [];
  slot.replaceChildren(
    el("p", {}, el("strong", {}, `${problem.title.replace(/[.:]$/, "")}.`), " ", problem.detail ?? ""),
    ...(choices.length
      ? [
          el(
            "div",
            { class: "suggestions" },
            el("span", {}, "Did you mean"),
            choices.slice(0, 8).map((choice) => {
              const entity = asEntity(choice);
              return button(
                entityNode(entity),
                () => {
                  clearProblem(slot);
                  onSuggestion(entity);
                },
                { "data-suggestion": entity.name },
              );
            }),
          ),
        ]
      : []),
    ...(retry ? [button("Try again", retry, { "data-retry": "" })] : []),
  );
  slot.hidden = false;
}

export function clearProblem(slot) {
  slot.hidden = true;
  slot.replaceChildren();
}

export const asEntity = (value) => (typeof value === "string" ? { name: value, label: value } : value);
