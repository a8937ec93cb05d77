import { membersOf, nodeIndex, RawJson, secretKeys, templateParts } from "@nova/workflow";
import { unlessErased } from "../../chain/contents.ts";
import { headOf } from "../../chain/head.ts";
import { inputBefore } from "../../chain/item-input.ts";
import { contextAfter, type Position, readPosition } from "../../chain/position.ts";
import type { Context } from "../../context/context.ts";
import { keyOfPath } from "../../context/whole-value.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { shownValue } from "../../secrets/redactor.ts";
import type { KeptAnswer } from "./refusals.ts";
import { isWaitingNode, termsOf, type WaitingNode } from "./waiting-node.ts";

/** A value of the context that a message names: secrets masked, large values as references. */
export interface NamedValue {
  /** Dot path. */
  path: string;
  value: RawJson;
}

/** The outcome of a task, as its link stores it. */
export interface KeptOutcome {
  /** Set for an approval. */
  choice?: string;
  /** Absent if an event arrived or the time was over. */
  by?: string;
  /** ISO 8601. */
  at: string;
  /** The data of an answer, or the event itself; absent if there is none. */
  data?: RawJson;
}

/** The facts about a task that are in the chain of work. */
export interface TaskContents {
  /**
   * In the order of the message, each once, with the values that the node found. Null if the context was erased or the
   * workflow is gone.
   */
  named: NamedValue[] | null;
  /** Null if there is no outcome, or if it was erased. */
  outcome: KeptOutcome | null;
}

/** Reads the values that a task names and its outcome, whether it still waits or not. */
export async function taskContents(ports: Ports, task: WaitingTask): Promise<TaskContents> {
  const { execution, scope, seq } = task;
  const version = await ports.workflows.get(task.workflowId, task.version);
  const node = version && nodeIndex(version.workflow).get(task.node)?.node;
  if (!node || !isWaitingNode(node)) return { named: null, outcome: null };
  const secrets = secretKeys(version.workflow);
  const position = await readPosition(ports, { execution, scope, seq });
  const { entry } = position.next;
  const [named, outcome] = await Promise.all([
    namedIn(ports, node, position, secrets),
    entry ? outcomeIn(ports, node, entry, secrets) : null,
  ]);
  return { named, outcome };
}

async function namedIn(ports: Ports, node: WaitingNode, position: Position, secrets: ReadonlySet<string>) {
  const parts = node.type === "approval" ? templateParts(node.message) : [];
  const paths = [...new Set(parts.flatMap((part) => (part.kind === "path" ? [part.path] : [])))];
  if (paths.length === 0) return [];
  const found = await unlessGone(position.beforeEntry, () => inputBefore(ports, position));
  if (!found) return null;
  return paths.flatMap((path): NamedValue[] => {
    const value = valueAt(found.input, path, secrets);
    return value ? [{ path, value }] : [];
  });
}

/** Returns null if the context of the entry was erased. */
async function unlessGone<T>(entry: StoredEntry, read: () => Promise<T>): Promise<T | null> {
  return entry.contents.context ? unlessErased(read) : null;
}

function valueAt(context: Context, path: string, secrets: ReadonlySet<string>): RawJson | undefined {
  const json = context.get(path);
  if (json === undefined) return undefined;
  return new RawJson(shownValue(keyOfPath(secrets, path) ?? path, json, secrets));
}

async function outcomeIn(
  ports: Ports,
  node: WaitingNode,
  entry: StoredEntry,
  secrets: ReadonlySet<string>,
): Promise<KeptOutcome | null> {
  const head = headOf(entry);
  if (head.node_id !== node.id || head.status !== "success") return null;
  const { into } = termsOf(node);
  const after = await unlessGone(entry, () => contextAfter(entry, ports.blobs));
  const value = after && valueAt(after.context, into, secrets);
  if (!value) return null;
  if (node.type === "wait" || secrets.has(into)) return { at: head.timestamp, data: value };
  const { choice, by, at } = JSON.parse(value.text) as KeptAnswer;
  const data = membersOf(value.text).find(({ key }) => key === "data")?.json ?? "null";
  return { choice, at, ...(by !== null && { by }), ...(data !== "null" && { data: new RawJson(data) }) };
}
