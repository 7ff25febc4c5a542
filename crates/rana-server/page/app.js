// The page of `rana serve`: requests a completion, shows it, saves decisions.
// Parts: form.js (the question), relate.js (the relation between two entities), answers.js (ranked answers and keys),
// explanation.js (reasons), decisions.js (saving), combobox.js, api.js, dom.js.

import { $, button, clearProblem, count, el, pairNode, pairText, say, showProblem } from "./dom.js";
import { aborted, asProblem, download, get, post } from "./api.js";
import { fill, kept, placeProblem, question, relation, settle, startForm } from "./form.js";
import { refresh, report, showAnswers, startAnswers, unsavedProblem } from "./answers.js";
import { startRelate } from "./relate.js";
import { decide, decided, decisions, load, onDecision, retry, unsaved } from "./decisions.js";

const DECISIONS_SHOWN = 200;
const FORMATS = {
  tsv: "TSV, tab-separated",
  sheet: "TSV for spreadsheets",
  jsonl: "JSON Lines",
  ntriples: "N-Triples",
  turtle: "Turtle",
  rdf12: "RDF 1.2 with confidence",
  parquet: "Parquet",
  quickstatements: "QuickStatements (Wikidata)",
};

// ---- theme

function startTheme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () => {
    $("theme").textContent = dark() ? "Light theme" : "Dark theme";
  };
  const stored = localStorage.getItem("rana.theme");
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;
  system.addEventListener("change", name);
  $("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    localStorage.setItem("rana.theme", root.dataset.theme);
    name();
  });
  name();
}

// ---- the server's run

async function startRun() {
  clearProblem($("page-error"));
  try {
    const run = await get("v1/run");
    describeRun(run);
    $("export-format").replaceChildren(
      ...run.formats.map((format) => el("option", { value: format }, FORMATS[format] ?? format)),
    );
    $("top").max = run.limits?.top ?? 1000;
    $("example").hidden = !run.example;
    $("example").onclick = () => {
      fill(run.example);
      say("The example is filled in. Press Complete to see answers.");
    };
    startFilled(run);
  } catch (error) {
    showProblem($("page-error"), asProblem(error), null, startRun);
  }
}

/** Fills in the example on the first visit or if the URL asks for it; otherwise the earlier input. */
function startFilled(run) {
  const address = new URLSearchParams(location.search);
  const before = kept();
  // Do not overwrite what was typed before the server responded.
  if (["relation", "support-head", "head"].some((id) => $(id).value)) return;
  if (run.example && (address.has("example") || (!before && !address.has("relation")))) fill(run.example);
  else if (address.has("relation")) fill({ relation: address.get("relation") });
  else fill(before ?? {});
}

function describeRun({ run, model, graph, confidence }) {
  $("run").textContent =
    `${model} on ${run}: ${count(graph.entities, "entity", "entities")}, ${count(graph.relations, "relation")}, ${count(graph.facts, "fact")}`;
  const measured =
    confidence.ece === null || confidence.ece === undefined
      ? ""
      : `Confidence was measured on ${count(confidence.answers, "answer")} of ${count(confidence.tasks, "task")}; its average error is ${(100 * confidence.ece).toFixed(1)} percentage points. `;
  $("about").textContent = measured + (confidence.note ?? "");
}

// ---- completing

let running = null;

async function complete() {
  if (running) return;
  running = new AbortController();
  busy(true);
  try {
    // Include decisions that were made in another tab or are not loaded yet.
    const [name, flows] = [$("relation").value.trim(), $("use-decisions").checked];
    if (flows) await load(name);
    const use = flows ? decided(name) : null;
    if (!(await settle(use))) return say("The question is not complete yet");
    const body = question(use);
    say("Completing…");
    const response = await post("v1/complete", body, running.signal);
    showAnswers(body, response);
  } catch (error) {
    if (aborted(error)) return say("Stopped");
    say(`No answers: ${asProblem(error).title}`);
    placeProblem(asProblem(error));
  } finally {
    running = null;
    busy(false);
  }
}

function busy(on) {
  $("results").setAttribute("aria-busy", String(on));
  $("complete").setAttribute("aria-disabled", String(on));
  $("complete").textContent = on ? "Completing…" : "Complete";
  $("stop").hidden = !on;
}

// ---- the list of decisions

function renderDecisions() {
  const all = decisions(relation());
  const { accepted, rejected } = decided(relation());
  $("decision-count").textContent = all.length ? `${accepted.length} accepted, ${rejected.length} rejected` : "";
  $("use-decisions-hint").textContent =
    accepted.length + rejected.length
      ? `Adds ${count(accepted.length, "accepted fact")} to the examples, and uses ${rejected.length} rejected as wrong examples.`
      : "There are no decisions on this relation yet.";
  const list = $("decisions");
  const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
  list.replaceChildren(...all.slice(0, DECISIONS_SHOWN).map(decisionNode));
  if (!all.length) list.append(el("li", { class: "quiet" }, "None yet. Accept or reject answers to fill this list."));
  if (all.length > DECISIONS_SHOWN)
    list.append(
      el("li", { class: "quiet" }, `and ${all.length - DECISIONS_SHOWN} older ones; the export includes them`),
    );
  // The list is new, so the focus moves to the element at the same position.
  if (focused >= 0) ([...list.querySelectorAll("button")].at(Math.max(0, focused - 1)) ?? $("decisions-title")).focus();
}

function decisionNode(entry) {
  const { head, tail, verdict, wanted, error, time } = entry;
  const slot = error ? el("div", { class: "problem" }) : null;
  if (slot) showProblem(slot, unsavedProblem(entry), null, () => retry(entry).then(report));
  const state = wanted && !error ? "saving…" : verdict === "none" ? "not saved" : verdict;
  return el(
    "li",
    { "data-decision": verdict },
    el(
      "span",
      {},
      relation() ? null : `${entry.relation}: `,
      pairNode(head, tail),
      el("span", { class: "when" }, el("span", { class: `badge ${verdict}` }, state), time ? timeNode(time) : null),
    ),
    slot,
    button("Withdraw", () => decide(entry, "withdrawn").then(report), {
      class: "plain remove",
      "data-withdraw": "",
      "aria-label": `Withdraw the decision on ${pairText(head, tail)}`,
    }),
  );
}

function timeNode(time) {
  const text = new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return el("time", { datetime: time, class: "hint" }, text);
}

async function loadDecisions(name) {
  clearProblem($("decisions-error"));
  renderDecisions();
  try {
    await load(name);
  } catch (error) {
    showProblem($("decisions-error"), asProblem(error), null, () => loadDecisions(name));
  }
}

// ---- export

/** Uses fetch instead of a link, because a link cannot send the token. */
async function exportFacts() {
  const [slot, format] = [$("export-error"), $("export-format").value];
  clearProblem(slot);
  const only = $("export-scope").value === "relation" && relation() ? relation() : undefined;
  try {
    const { blob, name } = await download("v1/export", { relation: only, format });
    const address = URL.createObjectURL(blob);
    const link = el("a", { href: address, download: name ?? `rana.${format}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    say(`Downloaded ${link.download}`);
  } catch (error) {
    showProblem(slot, asProblem(error), null, exportFacts);
  }
}

// ---- start

function startPage() {
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    complete();
  });
  $("stop").addEventListener("click", () => running?.abort());
  $("clear").addEventListener("click", () => {
    fill({});
    say("The form is empty");
    $("relation").focus();
  });
  $("export").addEventListener("click", exportFacts);
  $("keys-open").addEventListener("click", () => $("keys").showModal());
  $("letters").checked = localStorage.getItem("rana.letters") !== "off";
  $("letters").addEventListener("change", () =>
    localStorage.setItem("rana.letters", $("letters").checked ? "on" : "off"),
  );
  onDecision((entry) => {
    refresh(entry);
    renderDecisions();
  });
  // Warn before leaving the page if a decision is not saved yet.
  addEventListener("beforeunload", (event) => {
    if (unsaved()) event.preventDefault();
  });
}

startTheme();
startPage();
startAnswers();
startForm({ onRelation: loadDecisions });
startRelate();
startRun();
