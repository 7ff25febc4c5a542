// The ranked answers: their rows, their reasons, and the keys.

import { $, button, clearProblem, count, el, entityNode, pairText, percent, say, showProblem } from "./dom.js";
import { asProblem, post } from "./api.js";
import { decide, entryOf, retry } from "./decisions.js";
import { explanationNode } from "./explanation.js";

const ROWS = 100; // rows of a head shown at once
const HEADS = 50; // heads shown at once
const MANY = 50; // with more rows per head, rows outside the window are not laid out
const VERDICTS = { accept: "accepted", reject: "rejected", withdraw: "withdrawn" };
const LETTERS = { a: "accept", r: "reject", u: "withdraw" };

const results = $("results");
const facts = new WeakMap(); // row → the fact it shows
let shown = null; // the response on the page and its question
let current = null; // the row that keys act on

/** Shows the response of /v1/complete to `question`. */
export function showAnswers(question, response) {
  const relation = response.relation.name ?? question.relation;
  shown = { question, relation, label: response.relation.label ?? relation, answers: response.answers };
  current = null;
  results.replaceChildren(summary(response), ...notes(response));
  const list = el("div", { class: "groups" });
  results.append(list, pages(list, response.results, HEADS, group, given(response)));
  const first = list.querySelector("[data-answer]");
  const total = response.results.reduce((sum, { answers }) => sum + answers.length, 0);
  say(`${count(total, "answer")} for ${count(response.results.length, given(response).slice(0, -1))}`);
  if (first) focusRow(first, { preventScroll: true });
  else results.focus({ preventScroll: true });
  showHeading();
}

/** What the answers are for: heads if they are tails. */
const given = (response) => (response.answers === "heads" ? "tails" : "heads");

/** Scrolls to the heading of the answers. */
function showHeading() {
  const { top } = $("results-title").getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) $("results-title").scrollIntoView({ block: "start" });
}

function summary(response) {
  const { relation } = response;
  const parts = [
    relation.in_graph ? "in the graph" : "not in the graph",
    count(relation.support, "example"),
    `${count(relation.candidates, "candidate")} for each ${given(response).slice(0, -1)}`,
  ];
  return el("p", { class: "summary" }, el("strong", { title: relation.name }, relation.label ?? ""), ` — ${parts.join(", ")}`);
}

function notes(response) {
  const { note, record } = response.relation;
  const left = response.heads_left_out;
  // How well each example is found from the others (mean reciprocal rank).
  const known = record !== null && record !== undefined;
  return [
    ...(known
      ? [el("p", { class: "quiet" }, `Each example found from the others: mean reciprocal rank ${record.toFixed(2)}`)]
      : []),
    ...(note ? [el("p", { class: "note" }, note)] : []),
    ...(left ? [el("p", { class: "note" }, `${count(left, given(response).slice(0, -1))} more are plausible; those with the most facts are shown`)] : []),
  ];
}

/**
 * Fills `list` with `items` page by page, so that the first rows appear before
 * a thousand are laid out. Returns the button that shows the rest.
 */
function pages(list, items, size, node, what) {
  let from = 0;
  const more = button(
    "",
    () => {
      const before = list.lastElementChild;
      add();
      // The button is hidden now, so the focus moves to the first new row.
      if (more.hidden) focusRow(firstRow(before.nextElementSibling));
    },
    { class: "more" },
  );
  function add() {
    list.append(...items.slice(from, from + size).map(node));
    from = Math.min(items.length, from + size);
    more.hidden = from === items.length;
    more.textContent = `Show ${Math.min(size, items.length - from)} more of ${items.length} ${what}`;
  }
  add();
  return more;
}

const firstRow = (node) => (node?.matches("[data-answer]") ? node : node?.querySelector("[data-answer]"));

let groups = 0;

/** The answers for one head, or for one tail. */
function group({ head, tail, answers }) {
  const one = head ?? tail;
  const id = `group-${++groups}`;
  const list = el("div", { class: answers.length > MANY ? "rows many" : "rows", role: "list", "aria-labelledby": id });
  const more = pages(list, answers, ROWS, (answer) => row({ head, tail, ...answer }), "answers");
  return el(
    "section",
    { class: "group", "aria-labelledby": id },
    el("h3", { id }, entityNode(one)),
    answers.length ? list : el("p", { class: "quiet" }, `No answers for this ${head ? "head" : "tail"} within the limits.`),
    more,
  );
}

let rows = 0;

function row(answer) {
  const id = `answer-${++rows}`;
  const { head, tail, rank, score, confidence } = answer;
  const answered = shown.answers === "heads" ? head : tail;
  const act = (action, text) =>
    el(
      "button",
      { type: "button", tabindex: "-1", "data-action": action, "aria-label": `${text} ${answered.label}` },
      text,
    );
  const node = el(
    "div",
    {
      class: "answer",
      role: "listitem",
      tabindex: "-1",
      id,
      "data-answer": rank,
      "data-head": head.name,
      "data-tail": tail.name,
      "data-rank": rank,
      "data-verdict": "none",
    },
    el(
      "div",
      { class: "row" },
      el("span", { class: "rank" }, el("span", { class: "unseen" }, "Rank "), String(rank)),
      el(
        "button",
        {
          type: "button",
          tabindex: "-1",
          class: "open",
          "data-action": "open",
          "aria-expanded": "false",
          "aria-describedby": `${id}-facts ${id}-state`,
        },
        entityNode(answered),
        answer.known ? el("span", { class: "badge" }, "known") : null,
      ),
      el(
        "span",
        { class: "facts", id: `${id}-facts` },
        confidenceNode(confidence),
        el("span", { class: "score" }, el("span", { class: "word" }, "score "), score.toFixed(2)),
      ),
      el("span", { class: "actions" }, act("accept", "Accept"), act("reject", "Reject"), act("withdraw", "Withdraw")),
    ),
    el("div", { class: "state", id: `${id}-state` }),
  );
  facts.set(node, { relation: shown.relation, head, tail, score, confidence, explanation: answer.explanation });
  showVerdict(node);
  return node;
}

function confidenceNode(confidence) {
  if (confidence === null || confidence === undefined)
    return el("span", { class: "confidence unsure" }, "too few examples to say");
  const bar = el("span", { class: "fill" });
  bar.style.width = `${100 * confidence}%`; // set by script, because the CSP forbids style attributes
  return el(
    "span",
    { class: "confidence" },
    el("span", { class: "bar", "aria-hidden": "true" }, bar),
    el("span", { class: "percent" }, percent(confidence), el("span", { class: "unseen" }, " confidence,")),
  );
}

// ---- decisions in the rows

/** Shows the saved verdict of a row, and whether a save is running or has failed. */
function showVerdict(node) {
  const fact = facts.get(node);
  const entry = entryOf(fact.relation, fact.head, fact.tail);
  const verdict = entry?.verdict ?? "none";
  node.dataset.verdict = verdict;
  node.toggleAttribute("data-saving", Boolean(entry?.wanted && !entry.error));
  for (const [action, means] of [
    ["accept", "accepted"],
    ["reject", "rejected"],
  ]) {
    node.querySelector(`[data-action=${action}]`).setAttribute("aria-pressed", String(verdict === means));
  }
  const withdraw = node.querySelector("[data-action=withdraw]");
  if (document.activeElement === withdraw && verdict === "none") focusRow(node);
  withdraw.hidden = verdict === "none";
  const state = node.querySelector(".state");
  if (state.contains(document.activeElement)) focusRow(node);
  clearProblem(state);
  state.hidden = false;
  if (entry?.error) showProblem(state, unsavedProblem(entry), null, () => retry(entry).then(report));
  else if (entry?.wanted) state.textContent = "Saving…";
  else if (verdict !== "none") state.textContent = `${verdict === "accepted" ? "Accepted" : "Rejected"}, saved`;
  state.classList.toggle("problem", Boolean(entry?.error));
}

export const unsavedProblem = ({ error, wanted }) => ({
  title: `Not saved as ${wanted}`,
  detail: `${error.title}. ${error.detail ?? ""}`,
});

/** Updates the rows after a decision; null updates all rows. */
export function refresh(entry) {
  for (const node of results.querySelectorAll("[data-answer]")) {
    const { head, tail } = facts.get(node);
    if (!entry || (entry.head.name === head.name && entry.tail.name === tail.name)) showVerdict(node);
  }
}

/** Announces the result of a decision. */
export function report(entry) {
  const pair = pairText(entry.head, entry.tail);
  if (entry.error) say(`Not saved: ${pair}. ${entry.error.title}`);
  else
    say(
      `${entry.verdict === "none" ? "Withdrawn" : entry.verdict === "accepted" ? "Accepted" : "Rejected"}: ${pair}. Saved.`,
    );
}

function act(node, action) {
  if (action === "open") return toggle(node);
  return decide(facts.get(node), VERDICTS[action]).then(report);
}

// ---- reasons

async function toggle(node) {
  const open = node.querySelector("[data-action=open]");
  const wasOpen = open.getAttribute("aria-expanded") === "true";
  open.setAttribute("aria-expanded", String(!wasOpen));
  node.querySelector(".reasons")?.remove();
  if (wasOpen) return;
  const place = el(
    "div",
    { class: "reasons", id: `${node.id}-reasons` },
    el("p", { class: "quiet" }, "Looking for the reasons…"),
  );
  open.setAttribute("aria-controls", place.id);
  node.append(place);
  const fact = facts.get(node);
  try {
    fact.explanation ??= await post("v1/explain", explainBody(fact));
    place.replaceChildren(explanationNode(fact.explanation, shown.label));
    say(`Reasons for ${pairText(fact.head, fact.tail)} are shown`);
  } catch (error) {
    const slot = el("div", { class: "problem", role: "alert" });
    place.replaceChildren(slot);
    showProblem(slot, asProblem(error), null, () => {
      open.focus();
      toggle(node).then(() => toggle(node));
    });
  }
}

function closeReasons(node) {
  focusRow(node);
  toggle(node);
}

/** The question for one pair, without the limits on the list. */
function explainBody({ head, tail }) {
  const { relation, new: isNew, support, rejected, types, exclude_known } = shown.question;
  return { relation, new: isNew, support, rejected, types, exclude_known, answers: shown.answers, head: head.name, tail: tail.name };
}

// ---- moving and keys

/** Makes a row current. Only the current row is in the tab order. */
function setCurrent(node) {
  for (const [row, index] of [
    [current, "-1"],
    [node, "0"],
  ]) {
    row?.toggleAttribute("data-current", row === node);
    row?.querySelectorAll(".row button").forEach((control) => control.setAttribute("tabindex", index));
  }
  current = node;
}

function focusRow(node, options) {
  if (!node) return;
  setCurrent(node);
  node.querySelector("[data-action=open]").focus(options);
}

function move(by) {
  const beside = () => {
    const all = [...results.querySelectorAll("[data-answer]")];
    return all[current ? all.indexOf(current) + by : 0];
  };
  // After the last row, show more rows of this head, or more heads.
  if (by > 0 && current && !current.nextElementSibling) {
    const more = current.closest(".group").querySelector(":scope > .more");
    if (!more.hidden) more.click();
    else if (!beside()) results.querySelector(":scope > .more:not([hidden])")?.click();
  }
  focusRow(beside());
}

/** Handles a key. Returns true if the key has a meaning here. */
function key(event) {
  const inReasons = event.target.closest?.(".reasons");
  const onRow = event.target.matches?.("[data-answer]");
  const letters = $("letters").checked;
  if (letters && event.key === "?") $("keys").showModal();
  else if (letters && event.key === "j") move(1);
  else if (letters && event.key === "k") move(-1);
  else if (event.key === "ArrowDown" && !inReasons && results.contains(event.target)) move(1);
  else if (event.key === "ArrowUp" && !inReasons && results.contains(event.target)) move(-1);
  else if (!current || !results.contains(event.target)) return false;
  else if (letters && event.key in LETTERS) act(current, LETTERS[event.key]);
  else if (onRow && (event.key === "Enter" || event.key === " ")) toggle(current);
  else if (event.key === "Escape" && current.querySelector(".reasons")) closeReasons(current);
  else return false;
  return true;
}

export function startAnswers() {
  results.addEventListener("focusin", (event) => {
    const node = event.target.closest("[data-answer]");
    if (node && node !== current) setCurrent(node);
  });
  results.addEventListener("click", (event) => {
    const node = event.target.closest("[data-answer]");
    if (!node) return;
    const action = event.target.closest("[data-action]")?.dataset.action;
    if (action) {
      setCurrent(node);
      act(node, action);
      return;
    }
    // A click on the row opens it, unless it selects text.
    if (event.target.closest(".row") && getSelection().isCollapsed) toggle(node);
  });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const free = event.target === document.body || results.contains(event.target);
    // Keys work in the answers, and on the page if nothing else has the focus.
    if (free && !document.querySelector("dialog[open]") && key(event)) event.preventDefault();
  });
}
