// Which relation may hold between two entities: two fields and a ranked list.

import { $, clearProblem, count, el, percent, say, showProblem } from "./dom.js";
import { asProblem, post } from "./api.js";
import { resolveOr, startEntity } from "./form.js";

const TOP = 10;

export function startRelate() {
  startEntity("relate-head", () => $("relate-tail").focus());
  startEntity("relate-tail", () => relate(), true);
  $("relate-form").addEventListener("submit", (event) => {
    event.preventDefault();
    relate();
  });
}

let asked = 0;

async function relate() {
  const slot = $("relate-error");
  clearProblem(slot);
  const number = ++asked;
  for (const id of ["relate-head", "relate-tail"]) if (!$(id).value.trim()) return $(id).focus();
  const head = await resolveOr($("relate-head"), slot, relate);
  const tail = head && (await resolveOr($("relate-tail"), slot, relate));
  if (!tail) return;
  say("Ranking relations…");
  try {
    const { relations } = await post("v1/relate", { head: head.name, tail: tail.name, top: TOP });
    // A later question may have been answered first.
    if (number !== asked) return;
    $("related").replaceChildren(...relations.map(relationNode));
    say(`${count(relations.length, "relation")} from ${head.label} to ${tail.label}`);
  } catch (error) {
    $("related").replaceChildren();
    say("No relations");
    showProblem(slot, asProblem(error));
  }
}

function relationNode({ relation, label, confidence, known, in_graph: inGraph, reasons }) {
  const sure = confidence === null || confidence === undefined ? "not known how sure" : `${percent(confidence)} confidence`;
  return el(
    "li",
    { "data-relation": relation },
    el(
      "div",
      {},
      el("strong", { title: relation }, label),
      ` — ${sure} `,
      known ? el("span", { class: "badge" }, "known") : null,
      inGraph ? null : el("span", { class: "badge" }, "new"),
      el(
        "ul",
        { class: "hint" },
        reasons.map((reason) => el("li", {}, reason)),
      ),
    ),
  );
}
