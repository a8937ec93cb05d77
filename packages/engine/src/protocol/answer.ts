import { defined, type RunErrorClass } from "@nova/workflow";
import { contentText } from "../chain/contents.ts";
import { type Head, headOf } from "../chain/head.ts";
import { failureOf } from "../chain/position.ts";
import { linkLabel } from "../context/context.ts";
import { loadStored } from "../context/pages.ts";
import { NovaError } from "../errors.ts";
import type { BlobPlace } from "../ports/blobs.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import { continuationAnswer } from "./continuation.ts";
import type { CaughtError, Continuation, NodeEvent, RunPosition, TaskAnswer } from "./event.ts";
import { closed } from "./turn.ts";

type Asked = RunPosition & Pick<MapEvent, "inline_items">;

/** Throws `ExecutionClosed` for a close entry. */
function openHead(entry: StoredEntry): Head {
  const head = headOf(entry);
  if (head.node_type === "close") throw closed(head.execution_id);
  return head;
}

/** Keys named in the console, at most. */
const summaryKeys = 20;

/** What a task answers for an entry of its node; a failed one is thrown as its error class. */
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

/** What the Choice behind a settle or a join is told. */
export interface SettleAnswer extends RunPosition {
  /** False: the chain says success, whatever Step Functions saw; the run goes on along the node's own edge. */
  failed: boolean;
  decision?: string;
  continuation?: Continuation;
  /** Exactly where it failed: what the Fail of a branch says. */
  error?: CaughtError;
  /** Of a map that succeeded after all, what its task would have answered. */
  count?: ItemsAnswer["count"];
  distributed?: ItemsAnswer["distributed"];
}

/** Of the entry that is in the chain now. Throws `ExecutionClosed`. */
export async function settleAnswer(ports: Ports, event: Asked, entry: StoredEntry): Promise<SettleAnswer> {
  const head = openHead(entry);
  const error = head.status === "failed" ? await caughtError(ports, head, entry) : undefined;
  return { ...(await positionAfter(ports, head, event)), failed: error !== undefined, ...defined({ error }) };
}

/** Where the run goes on behind an entry. */
async function positionAfter(ports: Ports, head: Head, { execution, scope, ...event }: Asked) {
  return {
    ...{ execution, scope, seq: head.seq },
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

/** What an earlier run has stopped, and what is taken over of it, closes nothing here. */
function classTold({ error_class = "NodeFailed", reused_from, edited }: Head): RunErrorClass {
  const isOnRecord = reused_from !== undefined || edited !== undefined;
  return isOnRecord && error_class === "ExecutionClosed" ? "NodeInterrupted" : error_class;
}

/** Input of a map's tasks. */
export interface MapEvent extends NodeEvent {
  /** How many items the history of the execution has room for; absent: the map is in the body of another one. */
  inline_items?: number;
  /** Of a map in the body of another one: more items than this no history has room for. */
  most_items?: number;
}

/** What the Map state behind a map's task iterates over: the numbers of its items, or where a list of them is. */
export type ItemsAnswer = { count: number } & (
  | { distributed: false; items: number[] }
  | { distributed: true; manifest: BlobPlace }
);

/** The numbers of more items would not fit into a state of Step Functions (256 KiB). */
const maxInline = 40_000;

/** Step Functions collects `{}` from each item, and ends a run whose results exceed 256 KiB. */
const maxDistributed = 80_000;

export function maxItems({ inline_items, most_items = maxInline }: Limits): number {
  return inline_items === undefined ? most_items : maxDistributed;
}

type Limits = Pick<MapEvent, "inline_items" | "most_items">;

/** Of a map's entry, whoever asks for it: it is the same again. Of any other entry nothing. */
export async function itemsAnswer(
  ports: Pick<Ports, "blobs">,
  head: Head,
  { inline_items: most = maxInline }: Pick<MapEvent, "inline_items">,
): Promise<ItemsAnswer | undefined> {
  const { count, status } = head;
  if (count === undefined || status === "failed") return undefined;
  const items = Array.from({ length: count }, (_, index) => index);
  if (count <= most) return { count, distributed: false, items };
  const body = Buffer.from(JSON.stringify(items));
  const ref = { sha256: sha256(body.toString()), bytes: body.length, type: "json" as const };
  await ports.blobs.put(head, ref, body);
  return { count, distributed: true, manifest: ports.blobs.placeOf(head, ref.sha256) };
}
