// Decisions on facts. A verdict is saved once the server has responded with
// 201, which it does after writing to disk.

import { get, post, asProblem } from "./api.js";

const entries = new Map(); // key → entry, in the order of decision
let tell = () => {};

export const keyOf = (relation, head, tail) => JSON.stringify([relation, head.name, tail.name]);
export const entryOf = (relation, head, tail) => entries.get(keyOf(relation, head, tail));

/** Calls `listener(entry)` on every change; with null after many changes. */
export function onDecision(listener) {
  tell = listener;
}

/** Decisions of a relation (all of them without one), the latest first. */
export function decisions(relation) {
  return [...entries.values()]
    .filter((entry) => (!relation || entry.relation === relation) && (entry.verdict !== "none" || entry.wanted))
    .sort((a, b) => (b.number ?? Infinity) - (a.number ?? Infinity));
}

/** Saved verdicts as examples for the next question. */
export function decided(relation) {
  const saved = (verdict) => decisions(relation).filter((entry) => entry.verdict === verdict);
  return { accepted: saved("accepted"), rejected: saved("rejected") };
}

export const unsaved = () => [...entries.values()].some((entry) => entry.wanted);

/** Loads earlier decisions from the server. */
export async function load(relation) {
  const begun = performance.now();
  const { decisions: found } = await get("v1/decisions", { relation: relation || undefined });
  // Decisions made on this page since the request are newer than the response.
  const newer = (entry) => entry && (entry.wanted || entry.touched > begun);
  for (const [key, entry] of entries)
    if ((!relation || entry.relation === relation) && !newer(entry)) entries.delete(key);
  for (const decision of found) {
    const key = keyOf(decision.relation, decision.head, decision.tail);
    if (decision.verdict !== "withdrawn" && !newer(entries.get(key)))
      entries.set(key, { ...decision, wanted: null, error: null, touched: 0 });
  }
  tell(null);
}

/** Decides on a fact: "accepted", "rejected" or "withdrawn". */
export function decide({ relation, head, tail, score = null, confidence = null }, verdict) {
  const key = keyOf(relation, head, tail);
  const entry = entries.get(key) ?? { relation, head, tail, score, confidence, verdict: "none", number: null };
  entries.set(key, entry);
  const now = entry.wanted ?? (entry.verdict === "none" ? "withdrawn" : entry.verdict);
  if (now === verdict && !entry.error) return entry.saving ?? Promise.resolve(entry);
  entry.wanted = verdict;
  entry.error = null;
  return (entry.saving ??= save(entry).finally(() => {
    entry.saving = null;
  }));
}

/**
 * Saves until the wanted verdict is saved, one request at a time. A change
 * during a save must reach the server after it.
 */
async function save(entry) {
  while (entry.wanted && !entry.error) {
    const verdict = entry.wanted;
    tell(entry);
    try {
      const { relation, head, tail, score, confidence } = entry;
      const { number } = await post("v1/decisions", {
        relation,
        head: head.name,
        tail: tail.name,
        verdict,
        score,
        confidence,
      });
      Object.assign(entry, {
        number,
        verdict: verdict === "withdrawn" ? "none" : verdict,
        time: new Date().toISOString(),
        touched: performance.now(),
      });
      if (entry.wanted === verdict) entry.wanted = null;
    } catch (error) {
      if (entry.wanted === verdict) entry.error = asProblem(error);
    }
  }
  tell(entry);
  return entry;
}

export function retry(entry) {
  return decide(entry, entry.wanted);
}
