// The form of the question: relation, examples, heads, options. Stores the input,
// checks names while they are entered, and shows problems beside their cause.

import {
  $,
  asEntity,
  button,
  clearProblem,
  count,
  el,
  entityNode,
  pairNode,
  pairText,
  say,
  showProblem,
} from "./dom.js";
import { Problem, asProblem, get } from "./api.js";
import { combobox } from "./combobox.js";

const KEPT = "rana.form";
const CHECK_AT_MOST = 100; // pasted names that are looked up; the server checks the others

const state = { relation: "", supports: [], heads: [], plausible: false, answers: "tails" };
const picked = new WeakMap(); // input → the entity last picked for it, and its text
const known = new Map(); // relation name → its entry in /v1/relations
let relationChanged = () => {};

const samePair = (a, b) => a.head.name === b.head.name && a.tail.name === b.tail.name;

/** Initialises the form. `onRelation` is called when another relation is chosen. */
export function startForm({ onRelation }) {
  relationChanged = onRelation;
  startRelation();
  startEntity("support-head", () => $("support-tail").focus());
  startEntity("support-tail", () => addSupport(), true);
  startEntity("head", () => addHead());
  $("add-support").addEventListener("click", addSupport);
  $("add-head").addEventListener("click", addHead);
  $("add-paste").addEventListener("click", () => pastePairs($("paste").value));
  $("plausible").addEventListener("change", () => {
    state.plausible = $("plausible").checked;
    changed();
  });
  $("answers").addEventListener("change", () => {
    state.answers = $("answers").value;
    changed();
  });
  catchPaste("support-head", /[\t\n]/, pastePairs);
  catchPaste("head", /\n/, pasteHeads);
}

// ---- interface to the rest of the page

export const relation = () => state.relation;

/** The body of /v1/complete, with the decisions if they are used. */
export function question(decided) {
  const supports = [...state.supports];
  for (const fact of decided?.accepted ?? []) if (!supports.some((pair) => samePair(pair, fact))) supports.push(fact);
  const names = (pairs) => pairs.map(({ head, tail }) => [head.name, tail.name]);
  const body = {
    relation: state.relation,
    new: !known.has(state.relation),
    // Tails are answered for heads, and heads for tails.
    [given().toLowerCase() + "s"]: state.plausible ? "plausible" : state.heads.map((head) => head.name),
  };
  if (supports.length) body.support = names(supports);
  if (decided?.rejected.length) body.rejected = names(decided.rejected);
  const types = $("types")
    .value.split(",")
    .map((type) => type.trim())
    .filter(Boolean);
  if (types.length) body.types = types;
  if ($("known").checked) body.exclude_known = false;
  if ($("min-confidence").value !== "") body.min_confidence = Number($("min-confidence").value) / 100;
  body.top = Math.max(1, Number($("top").value) || 10);
  return body;
}

/** What is given: heads if tails are answered, and the other way round. */
const given = () => (state.answers === "heads" ? "Tail" : "Head");

/** Adds the text left in the fields, then returns whether the form can be sent. */
export async function settle(decided) {
  for (const slot of ["relation", "support", "head", "complete"]) clearProblem($(`${slot}-error`));
  setRelation($("relation").value.trim());
  if ($("support-head").value.trim() || $("support-tail").value.trim()) await addSupport();
  if ($("head").value.trim() && !state.plausible) await addHead();
  if (!["support", "head"].every((slot) => $(`${slot}-error`).hidden)) return false;
  const task = known.get(state.relation)?.task;
  if (!state.relation)
    return missing("relation", "No relation", "Choose a relation of the graph, or type a name for a new one.");
  if (!state.supports.length && !decided?.accepted.length && !task) {
    return missing(
      "support",
      "No examples",
      "Add at least one pair that is a fact of the relation; about five work well.",
      "support-head",
    );
  }
  if (!state.plausible && !state.heads.length) {
    const one = given().toLowerCase();
    return missing("head", `No ${one}s`, `Add a ${one} to complete, or let the server choose plausible ${one}s.`, "head");
  }
  return true;
}

function missing(slot, title, detail, focus = slot) {
  showProblem($(`${slot}-error`), new Problem({ title, detail }));
  $(focus).focus();
  return false;
}

/** Fills the form from an example or from earlier input. Labels are looked up later. */
export function fill({ relation = "", support = [], heads = [], plausible = false, answers = "tails" }) {
  state.answers = answers;
  state.supports = support.map(([head, tail]) => ({ head: asEntity(head), tail: asEntity(tail) }));
  state.heads = heads.map(asEntity);
  state.plausible = plausible;
  for (const id of ["support-head", "support-tail", "head"]) $(id).value = "";
  for (const slot of ["relation", "support", "head", "complete"]) clearProblem($(`${slot}-error`));
  $("relation").value = relation;
  setRelation(relation, true);
  changed();
  lookUp([...state.supports.flatMap((pair) => [pair.head, pair.tail]), ...state.heads]);
}

/** The earlier input in this tab, if any. */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

/** Shows a problem of /v1/complete beside the entry that caused it. */
export function placeProblem(problem) {
  const cause = causeOf(problem);
  const replace =
    cause.name === undefined
      ? undefined
      : (entity) => {
          if (cause.slot === "relation") {
            $("relation").value = entity.name;
            return setRelation(entity.name);
          }
          replaceNames(new Map([[cause.name, entity]]));
          say(`${cause.name} was replaced by ${entity.label}. Press Complete to ask again.`);
          $("complete").focus();
        };
  const slot = $(`${cause.slot}-error`);
  showProblem(slot, problem, replace);
  slot.scrollIntoView({ block: "nearest" });
}

// ---- the parts

function changed() {
  renderList(
    $("supports"),
    state.supports,
    ({ head, tail }) => pairNode(head, tail),
    ({ head, tail }) => pairText(head, tail),
    "support-head",
  );
  renderList($("heads"), state.heads, entityNode, (head) => head.label, "head");
  $("support-count").textContent = state.supports.length || "";
  $("head-count").textContent = state.plausible ? "" : state.heads.length || "";
  $("plausible").checked = state.plausible;
  $("answers").value = state.answers;
  for (const node of document.querySelectorAll("[data-given]"))
    node.textContent = node.dataset.given.split("|")[state.answers === "heads" ? 1 : 0];
  $("head-fields").hidden = $("heads").hidden = state.plausible;
  sessionStorage.setItem(
    KEPT,
    JSON.stringify({
      relation: state.relation,
      plausible: state.plausible,
      answers: state.answers,
      heads: state.heads.map(asPlain),
      support: state.supports.map(({ head, tail }) => [asPlain(head), asPlain(tail)]),
    }),
  );
}

function renderList(list, items, node, text, fieldAfter) {
  list.replaceChildren(
    ...items.map((item, index) =>
      el(
        "li",
        {},
        node(item),
        unknownNote(item),
        button(
          "Remove",
          () => {
            items.splice(index, 1);
            changed();
            // Move the focus to the entry that is now in this position.
            (list.children[Math.min(index, items.length - 1)]?.querySelector("button.remove") ?? $(fieldAfter)).focus();
            say(`Removed ${text(item)}`);
          },
          { class: "plain remove", "aria-label": `Remove ${text(item)}` },
        ),
      ),
    ),
  );
}

/** Marks entries whose name was not found, with suggestions. */
function unknownNote(item) {
  const wrong = [item, item.head, item.tail].find((entity) => entity?.problem);
  if (!wrong) return null;
  const slot = el("div", { class: "problem" });
  showProblem(slot, wrong.problem, (entity) => replaceNames(new Map([[wrong.name, entity]])));
  return slot;
}

function replaceNames(found) {
  const better = (old) => found.get(old.name) ?? old;
  state.supports = state.supports.map(({ head, tail }) => ({ head: better(head), tail: better(tail) }));
  state.heads = state.heads.map(better);
  changed();
}

function startRelation() {
  combobox($("relation"), {
    listLabel: "Relations of the graph",
    browse: true,
    search: async (q, signal) => {
      const { relations } = await get("v1/relations", { q, limit: 50 }, signal);
      for (const found of relations) known.set(found.name, found);
      return relations;
    },
    show: (found) => ({
      text: found.name,
      node: el(
        "span",
        {},
        el("span", { class: "label" }, found.name),
        " ",
        el(
          "small",
          { class: "name" },
          [count(found.facts, "fact"), found.task && `${found.task} task`].filter(Boolean).join(", "),
        ),
      ),
    }),
    commit: (_, text) => {
      setRelation(text);
      $("support-head").focus();
    },
  });
  // Clear the problem while typing, not on leaving the field: the page would move under a click.
  $("relation").addEventListener("input", () => clearProblem($("relation-error")));
  $("relation").addEventListener("change", () => setRelation($("relation").value.trim()));
}

async function setRelation(name, force = false) {
  if (name === state.relation && !force) return;
  state.relation = name;
  changed();
  relationChanged(name);
  const info = $("relation-info");
  if (!name) return info.replaceChildren("Type to search. A name the graph does not have makes a new relation.");
  try {
    let near = [];
    if (!known.has(name)) {
      ({ relations: near } = await get("v1/relations", { q: name, limit: 5 }));
      for (const found of near) known.set(found.name, found);
    }
    if (name === state.relation) info.replaceChildren(...describeRelation(name, known.get(name), near));
  } catch (error) {
    showProblem($("relation-error"), asProblem(error));
  }
}

function describeRelation(name, found, near) {
  if (!found) {
    const others = near.map(({ name, label }) =>
      button(label ?? name, () => {
        $("relation").value = name;
        setRelation(name);
      }),
    );
    return [
      "A new relation: the graph has no facts of it, so it is learned from the examples alone.",
      ...(others.length ? [" Or is it ", ...others, "?"] : []),
    ];
  }
  const what = `In the graph with ${count(found.facts, "fact")}${found.task ? ` (${found.task} task)` : ""}. `;
  const examples = found.examples ?? [];
  if (!examples.length) return [what];
  return [
    what,
    button(
      `Use ${examples.length} of them as examples`,
      () => {
        state.supports = examples.map(({ head, tail }) => ({ head, tail }));
        changed();
        say(`The examples are now ${count(examples.length, "fact")} of ${name}`);
      },
      { class: "link", id: "use-facts" },
    ),
  ];
}

export function startEntity(id, next, isLast = false) {
  combobox($(id), {
    listLabel: "Entities",
    search: async (q, signal) => (await get("v1/entities", { q, limit: 10 }, signal)).entities,
    show: (entity) => ({
      text: entity.label,
      node: el("span", {}, entityNode(entity), " ", el("small", { class: "types" }, (entity.types ?? []).join(", "))),
    }),
    commit: (entity, text) => {
      if (entity) picked.set($(id), { entity, text });
      if (text || isLast) next();
    },
  });
}

/** The entity of an input: the chosen one, or the one with exactly that name. */
function resolve(input) {
  const text = input.value.trim();
  const last = picked.get(input);
  return last?.text === text ? last.entity : entityCalled(text);
}

async function entityCalled(text) {
  const { entities } = await get("v1/entities", { q: text, limit: 8 });
  const named = entities.find((entity) => entity.name === text);
  if (named) return named;
  const labelled = entities.filter((entity) => entity.label === text);
  const exact = labelled.length ? labelled : entities.filter((entity) => entity.match === "exact");
  if (exact.length === 1) return exact[0];
  throw exact.length
    ? new Problem({
        status: 422,
        title: `Several entities are called ${text}`,
        detail: "Choose one by its name.",
        suggestions: exact,
      })
    : new Problem({
        status: 422,
        title: "Unknown entity",
        detail: `The graph has no entity called “${text}”.`,
        suggestions: entities,
      });
}

/** Resolves an input, or shows why that failed. Choosing a suggestion calls `again`. */
export async function resolveOr(input, slot, again) {
  try {
    const entity = await resolve(input);
    input.removeAttribute("aria-invalid");
    return entity;
  } catch (error) {
    input.setAttribute("aria-invalid", "true");
    showProblem(slot, asProblem(error), (choice) => {
      input.value = choice.label;
      picked.set(input, { entity: choice, text: choice.label });
      input.removeAttribute("aria-invalid");
      again();
    });
    slot.scrollIntoView({ block: "nearest" });
    return null;
  }
}

// One at a time: Enter and a click on Add must not add the entry twice.
const addSupport = oneAtATime(addSupportNow);
const addHead = oneAtATime(addHeadNow);

function oneAtATime(work) {
  let running = null;
  return () =>
    (running ??= work().finally(() => {
      running = null;
    }));
}

async function addSupportNow() {
  const [headInput, tailInput, slot] = [$("support-head"), $("support-tail"), $("support-error")];
  clearProblem(slot);
  const empty = [headInput, tailInput].filter((input) => !input.value.trim());
  if (empty.length) {
    empty[0].focus();
    if (empty.length === 1)
      showProblem(slot, new Problem({ title: "Incomplete pair", detail: "An example needs a head and a tail." }));
    return;
  }
  const head = await resolveOr(headInput, slot, addSupport);
  const tail = head && (await resolveOr(tailInput, slot, addSupport));
  if (!tail) return;
  headInput.value = tailInput.value = "";
  const pair = { head: asPlain(head), tail: asPlain(tail) };
  if (state.supports.some((other) => samePair(other, pair))) say(`${pairText(head, tail)} is already an example`);
  else {
    state.supports.push(pair);
    say(`Added ${pairText(head, tail)}; ${count(state.supports.length, "example")}`);
  }
  changed();
  if (!slot.hidden) return;
  headInput.focus();
}

async function addHeadNow() {
  const [input, slot] = [$("head"), $("head-error")];
  clearProblem(slot);
  if (!input.value.trim()) return input.focus();
  const head = await resolveOr(input, slot, addHead);
  if (!head) return;
  input.value = "";
  addHeads([asPlain(head)]);
  input.focus();
}

function addHeads(heads) {
  const fresh = heads.filter((head) => !state.heads.some((other) => other.name === head.name));
  state.heads.push(...fresh);
  changed();
  say(fresh.length ? `${count(fresh.length, given().toLowerCase())} added; ${state.heads.length} in all` : "Already in the list");
}

const asPlain = ({ name, label }) => ({ name, label });

// ---- pasting

/** Treats a paste of several lines into one field as several entries. */
function catchPaste(id, pattern, take) {
  $(id).addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain")?.trim() ?? "";
    if (!pattern.test(text)) return;
    event.preventDefault();
    take(text);
  });
}

function pastePairs(text) {
  const slot = $("paste-error");
  clearProblem(slot);
  const bad = [];
  const pairs = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const cells = line.split("\t").map((cell) => cell.trim());
    if (cells.every((cell) => !cell)) continue;
    // Three cells are a fact of a graph file: head, relation, tail.
    const [head, tail] = cells.length === 3 ? [cells[0], cells[2]] : cells;
    if (cells.length < 2 || cells.length > 3 || !head || !tail) bad.push({ line, number: index + 1 });
    else pairs.push({ head: asEntity(head), tail: asEntity(tail) });
  }
  const fresh = pairs.filter(
    (pair, index) => ![...state.supports, ...pairs.slice(0, index)].some((other) => samePair(other, pair)),
  );
  state.supports.push(...fresh);
  changed();
  // Lines that are not pairs stay in the field, to be corrected.
  $("paste").value = bad.map(({ line }) => line).join("\n");
  if (bad.length) {
    $("paste").closest("details").open = true;
    showProblem(
      slot,
      new Problem({
        title: `${count(bad.length, "line was", "lines were")} not understood`,
        detail: `Expected a head, a tab and a tail in line ${bad
          .slice(0, 5)
          .map(({ number }) => number)
          .join(", ")}.`,
      }),
    );
  }
  say(`${count(fresh.length, "example")} added; ${state.supports.length} in all`);
  lookUp(fresh.flatMap((pair) => [pair.head, pair.tail]));
}

function pasteHeads(text) {
  const heads = [
    ...new Set(
      text
        .split(/\r?\n/)
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ].map(asEntity);
  addHeads(heads);
  lookUp(heads);
}

/** Looks up the labels of pasted names, and marks names that the graph does not have. */
async function lookUp(entities) {
  const bare = entities.filter((entity) => entity.label === entity.name).map((entity) => entity.name);
  const names = [...new Set(bare)].slice(0, CHECK_AT_MOST);
  const found = new Map();
  const work = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      try {
        found.set(name, asPlain(await entityCalled(name)));
      } catch (error) {
        // Only unknown names are shown here; other failures are shown on Complete.
        if (asProblem(error).status === 422) found.set(name, { name, label: name, problem: error });
      }
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  replaceNames(found);
}

// ---- finding the cause of a problem

/**
 * Finds the entry that caused a problem. The server names the entry in its
 * detail, but not the field, so the entries are searched for that name.
 */
function causeOf({ title, detail = "", status }) {
  const entered = [
    ...state.heads.map((entity) => ({ slot: "head", name: entity.name })),
    ...state.supports.flatMap(({ head, tail }) =>
      [head, tail].map((entity) => ({ slot: "support", name: entity.name })),
    ),
    { slot: "relation", name: state.relation },
  ].sort((a, b) => b.name.length - a.name.length);
  const quoted = ({ name }) => ['"', "'", "`", "“", "‘", "«"].some((mark) => detail.includes(mark + name));
  const bare = ({ name }) => name.length > 2 && ` ${detail} `.includes(` ${name} `);
  const found = entered.find(quoted) ?? entered.find(bare);
  if (found) return found;
  const text = `${title} ${detail}`;
  if (status >= 400 && status < 500) {
    if (/support|example/i.test(text)) return { slot: "support" };
    if (/\b(heads?|tails?)\b/i.test(text)) return { slot: "head" };
    if (/relation/i.test(text)) return { slot: "relation" };
  }
  return { slot: "complete" };
}
