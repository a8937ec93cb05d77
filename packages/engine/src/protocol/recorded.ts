import { type Node, onErrorOf, type WorkflowNode } from "@nova/workflow";
import { type Head, headOf, type Plan, type ScopePlace } from "../chain/head.ts";
import { type Position, readKept } from "../chain/position.ts";
import type { Ports } from "../ports/index.ts";
import { defaultNext, followChoice, isChosen, type NodeDefinition, nextNodeId } from "./definition.ts";
import type { Outcome, RecordedOutcome } from "./outcome.ts";
import { outcomeInDocument, placesInside, refusedHere } from "./recorded-document.ts";
import { findInSource, followedBehind, outcomeInSource } from "./recorded-source.ts";
import type { KindPorts } from "./settling.ts";

/**
 * The outcome on record, by this execution's plan, for a node that has no entry: what it set, decided or failed with. Null
 * where the node is to run. It is the same for everybody who asks.
 */
export async function recordedOutcome(
  ports: KindPorts,
  position: Position,
  definition: NodeDefinition,
): Promise<Outcome | null> {
  const { before, at } = position;
  if (!takesOver(before) || !ports.holdsTurn(definition.node)) return null;
  const plan = await planIn(ports, at.execution);
  if (!plan) return null;
  if ("source" in plan) {
    const found = await outcomeInSource(ports, position, plan, definition);
    const outcome = found && outcomeOf(position, definition, found);
    // What would fail for good runs again, unless the source went on without it.
    const isSettled =
      outcome?.status !== "failed" || outcome.next !== null || (found && "class" in found && found.isTolerated);
    return isSettled ? outcome : null;
  }
  const found = await outcomeInDocument(ports, position, plan, definition);
  const outcome = found && outcomeOf(position, definition, found);
  return outcome ?? (before.sealed ? refusedHere(ports, position, plan, definition) : null);
}

/** Whether some outcomes of a scope may be on record; also true in a loop, whose visits are counted. */
export function takesOver({ followed, visits }: Pick<Head, "followed" | "visits">): boolean {
  return followed !== undefined || visits !== undefined;
}

/** Null where this version has no edge that leads on. */
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
  // An entry that names a link says what that one says.
  const fits = way && (way.decision === decision || !more.reused);
  return fits ? { ...success, ...way, more: { ...more, ...way.more } } : null;
}

/** How far a scope has followed the source of its plan behind a node that ran. */
export async function stillFollowed(
  ports: Pick<Ports, "chain" | "blobs">,
  position: Position,
  node: Pick<Node, "id">,
): Promise<ScopePlace | undefined> {
  if (!position.before.followed) return undefined;
  const plan = await planIn(ports, position.at.execution);
  return plan && "source" in plan ? followedBehind(ports, position, plan, node) : undefined;
}

/** Undefined: the execution takes no outcomes over. */
async function planIn({ chain }: Pick<Ports, "chain">, execution: string): Promise<Plan | undefined> {
  const first = await readKept(chain, { execution, scope: "", seq: 0 });
  return first && headOf(first).plan;
}

/**
 * Of the execution that a node runs: one that came to no good end for the source goes on where it failed; a document may
 * hold what is inside.
 */
export async function planOfChild(ports: Ports, position: Position, node: WorkflowNode): Promise<Plan | undefined> {
  const { before, at } = position;
  if (!takesOver(before)) return undefined;
  const plan = await planIn(ports, at.execution);
  if (!plan) return undefined;
  if (!("source" in plan)) {
    const within = await placesInside(ports, position, plan, node);
    return within === null ? undefined : { outcomes: plan.outcomes, within };
  }
  const { source, again = [], inside = {}, unchanged } = plan;
  if (unchanged || !before.followed) return undefined;
  const found = await findInSource(ports, source, before.followed, node);
  const { child, scope, seq, status } = found?.head ?? {};
  if (!child || again.includes(node.id)) return undefined;
  const part = inside[`${scope}#${seq}`];
  if (!part && status === "success") return undefined;
  return { source: child.execution, tip: child.tip, ...part, ...(again.length > 0 && { again }) };
}
