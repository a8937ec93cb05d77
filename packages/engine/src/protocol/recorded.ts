import { onErrorOf } from "@nova/workflow";
import type { Position } from "../chain/position.ts";
import { defaultNext, followChoice, isChosen, type NodeDefinition, nextNodeId } from "./definition.ts";
import type { Outcome, RecordedOutcome } from "./outcome.ts";
import { findRecorded, planAt, refusedHere } from "./recorded-document.ts";
import type { KindPorts } from "./settling.ts";

/**
 * The outcome on record, by this execution's plan, for a node that has no entry: what it set, decided or failed with. Null
 * if the node is to run. Every delivery gets the same answer.
 */
export async function recordedOutcome(
  ports: KindPorts,
  position: Position,
  definition: NodeDefinition,
): Promise<Outcome | null> {
  const plan = ports.holdsTurn(definition.node) ? await planAt(ports, position) : undefined;
  if (!plan) return null;
  const found = await findRecorded(ports, position, plan, definition);
  const outcome = found && outcomeOf(position, definition, found);
  return outcome ?? (position.before.sealed ? refusedHere(ports, position, plan, definition) : null);
}

/** Null if this version has no edge that leads on. */
function outcomeOf({ before }: Position, definition: NodeDefinition, found: RecordedOutcome): Outcome | null {
  const { node, version } = definition;
  const { decision, more } = found;
  const run = { attempt: 1, sandboxId: null, warm: before.warm, code: null };
  const facts = { logs: "", executionTimeMs: 0, run };
  if ("failure" in found) {
    const next = nextNodeId(version, onErrorOf(node));
    return { ...facts, more, status: "failed", class: found.class, failure: found.failure, next };
  }
  const success = { ...facts, status: "success" as const, changes: found.changes };
  if (decision === null)
    return isChosen(definition) ? null : { ...success, decision, more, next: defaultNext(definition) };
  const way = followChoice(definition, decision, before.loops);
  // A reused entry must take the source's decision.
  const fits = way && (way.decision === decision || !more.reused);
  return fits ? { ...success, ...way, more: { ...more, ...way.more } } : null;
}
