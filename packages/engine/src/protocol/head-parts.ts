import { defined, isInLoop, type Node } from "@nova/workflow";
import type { Head } from "../chain/head.ts";
import type { Position } from "../chain/position.ts";
import { addSpendings } from "../chain/spending.ts";
import { chainBroken } from "../errors.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { isLoopOf, type Loops } from "./definition.ts";
import type { Outcome } from "./outcome.ts";

/** The outcome of a node that is about to become the entry at `position`. */
export interface Committed {
  position: Position;
  node: Pick<Node, "id">;
  /** Undefined if the version is no longer stored. */
  version: WorkflowVersion | undefined;
  outcome: Outcome;
}

/** Fields of a head that continue what the entry before it says. */
export type ContinuedFields = Partial<
  Pick<Head, "nodes" | "inner" | "spare" | "spent" | "loops" | "visits" | "events" | "continuation">
>;

/** Returns the fields of one concern. */
type HeadPart = (committed: Committed) => ContinuedFields;

/** Every concern that continues from entry to entry. A new one is a function and a line here. */
export const headParts: readonly HeadPart[] = [countNodes, keepSpares, addSpent, countLoops, countVisits, countEvents];

function countNodes({ position: { before }, outcome: { run, more = {} } }: Committed): ContinuedFields {
  const inner = (before.inner ?? 0) + (more.inner ?? 0);
  return {
    nodes: before.nodes + (run.code === null ? 0 : 1) + (more.nodes ?? 0),
    ...(inner > 0 && { inner }),
  };
}

function keepSpares({ position: { before }, outcome: { run } }: Committed): ContinuedFields {
  const spare = run.spare ?? before.spare ?? [];
  return spare.length > 0 ? { spare } : {};
}

function addSpent({ position: { before }, outcome: { more } }: Committed): ContinuedFields {
  return defined({ spent: addSpendings(before.spent, more?.spent) });
}

function countLoops({ position: { before }, node, outcome: { more } }: Committed): ContinuedFields {
  return defined({ loops: more?.loops ?? loopsAfter(before.loops, node.id) });
}

/** The counts after an entry that leaves its node's loops: these are counted again from 0 when a run returns to them. */
export function loopsAfter(before: Loops | undefined, node: string): Loops | undefined {
  const others = Object.entries(before ?? {}).filter(([key]) => !isLoopOf(key, node));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

/** Nodes outside of loops are not counted. */
function countVisits({ position: { before }, node, version, outcome: { more } }: Committed): ContinuedFields {
  const { visits } = before;
  if (more?.visits) return { visits: more.visits };
  if (!version || !isInLoop(version.workflow, node.id)) return defined({ visits });
  return { visits: { ...visits, [node.id]: (visits?.[node.id] ?? 0) + 1 } };
}

/**
 * Counts the events in the history of the Step Functions execution. Where a loop leads back and the history is nearly full,
 * the run continues in a further execution.
 */
function countEvents({ position: { before, at }, node, version, outcome }: Committed): ContinuedFields {
  if (before.events === undefined) return {};
  if (!version) throw chainBroken(`workflow ${before.workflow_id} has no version ${before.workflow_version} any more`);
  const { history } = version;
  if (!history) return {};
  const { more = {}, status } = outcome;
  const { own = 0, each = 0, inlineItems = Number.POSITIVE_INFINITY } = history.entries[node.id] ?? {};
  const inside = more.inside && more.inside.branches <= inlineItems ? more.inside : { branches: 0, events: 0 };
  const failed = status === "failed" ? history.settled : 0;
  const events = before.events + own + failed + inside.events + inside.branches * each;
  const { continuation } = before;
  if (at.scope !== "" || !more.loops || events <= history.most) return { events, ...defined({ continuation }) };
  return { events: history.begun, continuation: { number: (continuation?.number ?? 0) + 1, seq: at.seq } };
}
