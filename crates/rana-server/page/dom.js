// Helpers to create elements. Text from the server is always set with
// textContent or setAttribute, never as HTML.

export const $ = (id) => document.getElementById(id);

/** Creates an element. `on` holds listeners; attributes that are `false` or `null` are left out. */
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

/** The label of an entity; in small print its short name if it differs, and what tells it from its namesakes. */
export function entityNode(entity) {
  const short = entity.short ?? entity.name;
  const beside = [entity.label === short ? null : short, entity.distinction].filter(Boolean).join(" · ");
  const name = beside ? el("small", { class: "name", title: entity.name }, beside) : null;
  return el(
    "span",
    { class: "entity" },
    el("span", { class: "label" }, breakable(entity.label)),
    name ? " " : null,
    name,
  );
}

/** Text with line breaks allowed after underscores and the like, for long names. */
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

/** A percentage. It is rounded to 0 or 100 only if it is exact. */
export function percent(share) {
  if (share > 0.99 && share < 1) return "> 99%";
  if (share > 0 && share < 0.01) return "< 1%";
  return `${Math.round(share * 100)}%`;
}

/** Shows a message in the status line, which screen readers announce. */
export function say(text) {
  $("status").textContent = text;
}

/**
 * Shows a problem: what is wrong, what to do, and suggestions as buttons.
 * `suggestions` may be names or entities.
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
