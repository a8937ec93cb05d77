import { membersOf, nodeIndex, RawJson, secretKeys, templateParts } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import { headOf, unlessErased } from "../../chain/entry.ts";
import { contextAfter, inputBefore, type Position, readPosition } from "../../chain/position.ts";
import type { Context } from "../../context/context.ts";
import { asReference, keyOfPath } from "../../context/references.ts";
import type { BlobRef } from "../../ports/blobs.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { shownValue } from "../../secrets/redactor.ts";
import { isWaitingNode, type KeptAnswer, termsOf, type WaitingNode } from "./waiting-task.ts";

/** A value of the context that a message names. Secrets in it are masked, and a large value is a reference. */
export interface NamedValue {
  path: string;
  value: RawJson;
}

export interface KeptOutcome {
  choice?: string;
  /** The person who answered. Absent if an event arrived or the time was over. */
  by?: string;
  /** A time in ISO 8601. */
  at: string;
  /** The data of an answer, or the event itself; absent if there is none. */
  data?: RawJson;
}

export interface TaskContents {
  /**
   * The values that the message names, in this order, each once. Null if the context was erased or the workflow no
   * longer exists.
   */
  named: NamedValue[] | null;
  /** Null if the task has no outcome yet, or if its contents were erased. */
  outcome: KeptOutcome | null;
}

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

async function unlessGone<T>(entry: StoredEntry, read: () => Promise<T>): Promise<T | null> {
  return entry.contents.context ? unlessErased(read) : null;
}

function valueAt(context: Context, path: string, secrets: ReadonlySet<string>): RawJson | undefined {
  const json = context.get(path);
  if (json === undefined) return undefined;
  return new RawJson(shownValue(keyOfPath(secrets, path) ?? path, json, secrets));
}

async function outcomeIn(ports: Ports, node: WaitingNode, entry: StoredEntry, secrets: ReadonlySet<string>) {
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

/** The limits in characters for a value inside a message, and for a whole message. */
const longestValue = 500;
const longestMessage = 4000;

type Message = { text: string } | { problem: string };

/**
 * Fills a template with values of the context: texts stay unchanged, and other values become JSON text. `mask` hides
 * secrets.
 */
export function renderMessage(template: string, context: Context, mask: (text: string) => string): Message {
  const texts: string[] = [];
  for (const part of templateParts(template)) {
    if (part.kind === "text") {
      texts.push(part.text);
      continue;
    }
    const json = context.get(part.path);
    if (json === undefined) {
      const advice = "have a node before it set the key, or correct the path";
      return { problem: `its message names {{${part.path}}}, which the context does not have - ${advice}` };
    }
    texts.push(shorten(mask(textOfValue(json)), longestValue));
  }
  return { text: shorten(mask(texts.join("")), longestMessage) };
}

function textOfValue(json: string): string {
  const value: unknown = JSON.parse(json);
  if (typeof value === "string") return value;
  const ref = value !== null && typeof value === "object" ? asReference(value) : undefined;
  return ref ? `(${sizeOf(ref)})` : json;
}

function sizeOf({ bytes, type }: BlobRef): string {
  const kilobytes = Math.ceil(bytes / 1024);
  return `${type === "bytes" ? "a file" : "a value"} of ${kilobytes} KB`;
}

function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

/** Builds the command that answers this task, and cannot answer a later task. Several choices are joined by `|`. */
export function approveCommand(
  { id, choices }: Pick<WaitingTask, "id" | "choices">,
  offered: readonly string[] = choices,
) {
  return `nova approve ${id} --choice ${offered.map(shellWord).join("|")}`;
}
