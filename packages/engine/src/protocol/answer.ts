import { contentText } from "../chain/contents.ts";
import { type Head, headOf } from "../chain/head.ts";
import { failureOf, type Position } from "../chain/position.ts";
import { linkLabel } from "../context/link-label.ts";
import { loadStored } from "../context/pages.ts";
import { chainBroken, NovaError } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { continuationAnswer } from "./continuation.ts";
import type { NodeEvent, TaskAnswer } from "./event.ts";
import { itemsAnswer, type MapEvent } from "./items-answer.ts";

/**
 * The entry that a delivery finds at its node's link, if there is one: it answers that and runs nothing. Throws
 * `ExecutionClosed` behind a close, `ChainBroken` for what can only be a bug.
 */
export function committedEntry({ next, at }: Position, event: NodeEvent): StoredEntry | undefined {
  if (!next.entry) return undefined;
  const head = headOf(next.entry);
  if (head.node_type === "close") throw closed(at.execution);
  if (head.node_id !== event.node) {
    throw chainBroken(`link ${at.seq} of ${at.execution} belongs to node "${head.node_id}", not to "${event.node}"`);
  }
  return next.entry;
}

export function closed(execution: string): NovaError {
  return new NovaError("ExecutionClosed", `execution ${execution} is closed; its chain says how it ended`);
}

/** What a task answers for an entry of its node; a failed one is thrown as its error class. */
export async function answerFor(entry: StoredEntry, event: MapEvent, ports: Ports): Promise<TaskAnswer> {
  const head = headOf(entry);
  if (head.node_type === "close") throw closed(event.execution.id);
  if (head.status === "failed") {
    const { message } = await failureOf(entry, ports.blobs);
    throw new NovaError(head.error_class ?? "NodeFailed", `node "${head.node_id}": ${message}`);
  }
  return successAnswer(head, entry, event, ports);
}

/** Keys named in the console, at most. */
const summaryKeys = 20;

async function successAnswer(head: Head, entry: StoredEntry, event: MapEvent, ports: Ports): Promise<TaskAnswer> {
  const { execution, scope } = event;
  const stored = entry.contents.context && loadStored(await contentText(entry.contents.context, head, ports.blobs));
  const set = stored ? stored.inline.filter(([, by]) => by === linkLabel(head)).map(([key]) => key) : [];
  return {
    execution,
    scope,
    seq: head.seq,
    ...(head.decision_result !== null && { decision: head.decision_result }),
    ...(await continuationAnswer(ports, head, event)),
    ...(await itemsAnswer(ports, head, event)),
    summary: {
      node: head.node_id,
      set: set.slice(0, summaryKeys),
      deleted: stored ? stored.deleted.slice(0, summaryKeys) : [],
      executionTimeMs: head.execution_time_ms,
    },
  };
}
