import { defined, type RunErrorClass } from "@nova/workflow";
import { contentText, type Head, headOf } from "../chain/entry.ts";
import { failureOf } from "../chain/position.ts";
import { linkLabel, loadStored } from "../context/context.ts";
import { NovaError } from "../errors.ts";
import type { BlobPlace } from "../ports/blobs.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import { continuationAnswer } from "./close.ts";
import type { CaughtError, Continuation, NodeEvent, RunPosition, TaskAnswer } from "./event.ts";
import { closedError } from "./turn.ts";

type Asked = RunPosition & Pick<MapEvent, "inline_items">;

/** Returns the head (the hashed fields) of an entry. Throws `ExecutionClosed` for a close entry. */
function openHead(entry: StoredEntry): Head {
  const head = headOf(entry);
  if (head.node_type === "close") throw closedError(head.execution_id);
  return head;
}

/** The largest number of keys that `summary` names for readers of the Step Functions console. */
const summaryKeys = 20;

/**
 * Builds the answer of a node's task from the entry of the node. For a failed entry, throws an error of the entry's
 * class.
 */
export async function answerFor(entry: StoredEntry, event: MapEvent, ports: Ports): Promise<TaskAnswer> {
  const head = openHead(entry);
  if (head.status === "failed") {
    const { message } = await failureOf(entry, ports.blobs);
    throw new NovaError(classTold(head), `node "${head.node_id}": ${message}`);
  }
  const stored = entry.contents.context && loadStored(await contentText(entry.contents.context, head, ports.blobs));
  const set = stored ? stored.inline.filter(([, by]) => by === linkLabel(head)).map(([key]) => key) : [];
  const summary = {
    node: head.node_id,
    set: set.slice(0, summaryKeys),
    deleted: stored ? stored.deleted.slice(0, summaryKeys) : [],
    executionTimeMs: head.execution_time_ms,
    ...(head.reused_from && { reused: true as const }),
  };
  return { ...(await positionAfter(ports, head, event)), summary };
}

/** The input of the Choice state after a settle or a join. */
export interface SettleAnswer extends RunPosition {
  /** Whether the node failed according to the chain. False even if Step Functions saw its task fail. */
  failed: boolean;
  decision?: string;
  continuation?: Continuation;
  /** The error for the Fail state of a branch. Its cause names the failed node, in nested branches too. */
  error?: CaughtError;
  /** Only for a map that succeeded: its items, in the same form as in the answer of its task. */
  count?: ItemsAnswer["count"];
  distributed?: ItemsAnswer["distributed"];
}

/** Builds the answer of a settle task or a join from the entry. Throws `ExecutionClosed` for a close entry. */
export async function settleAnswer(ports: Ports, event: Asked, entry: StoredEntry): Promise<SettleAnswer> {
  const head = openHead(entry);
  const error = head.status === "failed" ? await caughtError(ports, head, entry) : undefined;
  return { ...(await positionAfter(ports, head, event)), failed: error !== undefined, ...defined({ error }) };
}

async function positionAfter(ports: Ports, head: Head, { execution, scope, ...event }: Asked) {
  return {
    execution,
    scope,
    seq: head.seq,
    ...defined({ decision: head.decision_result ?? undefined }),
    ...(head.continuation && (await continuationAnswer(ports, head, { execution }))),
    ...(await itemsAnswer(ports, head, event)),
  };
}

async function caughtError(ports: Ports, head: Head, entry: StoredEntry): Promise<CaughtError> {
  const { message, node } = await failureOf(entry, ports.blobs);
  const cause = node === undefined ? `node "${head.node_id}": ${message}` : message;
  return { Error: classTold(head), Cause: cause };
}

/**
 * Returns the error class for Step Functions. A reused `ExecutionClosed` means that the earlier run was closed. Because
 * this class must not close this run, `NodeInterrupted` replaces it.
 */
function classTold({ error_class = "NodeFailed", reused_from, edited }: Head): RunErrorClass {
  const isOnRecord = reused_from !== undefined || edited !== undefined;
  return isOnRecord && error_class === "ExecutionClosed" ? "NodeInterrupted" : error_class;
}

export interface MapEvent extends NodeEvent {
  /**
   * The largest number of items that may run inline: the history of the execution has room for the events of so many
   * items. Absent: the map is in the body of another map.
   */
  inline_items?: number;
  /** Only for a map in the body of another map: the largest number of items whose events fit into the history. */
  most_items?: number;
}

/**
 * The input of the Map state that follows the task of a map or an agent: the item numbers, the calls, or the location
 * of the file with the item numbers.
 */
export type ItemsAnswer = { count: number } & (
  | { distributed: false; items: number[] | { index: number; tool: string }[] }
  | { distributed: true; manifest: BlobPlace }
);

/** The largest number of items whose numbers fit into a state of Step Functions (256 KiB). */
const maxInline = 40_000;

/**
 * The largest number of items of a distributed map. Step Functions collects `{}` from each item, and ends a run whose
 * results exceed 256 KiB.
 */
const maxDistributed = 80_000;

export function maxItems({ inline_items, most_items = maxInline }: Omit<MapEvent, keyof NodeEvent>): number {
  return inline_items === undefined ? most_items : maxDistributed;
}

/**
 * Builds the list of items from the entry of a map. The list is the same for every delivery. Returns undefined for
 * other entries.
 */
export async function itemsAnswer(
  ports: Pick<Ports, "blobs">,
  head: Head,
  { inline_items: most = maxInline }: Pick<MapEvent, "inline_items">,
): Promise<ItemsAnswer | undefined> {
  const { count, calls, status } = head;
  if (count === undefined || status === "failed") return undefined;
  if (calls) return { count, distributed: false, items: calls.map((tool, index) => ({ index, tool })) };
  const items = Array.from({ length: count }, (_, index) => index);
  if (count <= most) return { count, distributed: false, items };
  const body = Buffer.from(JSON.stringify(items));
  const ref = { sha256: sha256(body.toString()), bytes: body.length, type: "json" as const };
  await ports.blobs.put(head, ref, body);
  return { count, distributed: true, manifest: ports.blobs.placeOf(head, ref.sha256) };
}
