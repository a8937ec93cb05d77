import { isDeepStrictEqual } from "node:util";
import { atOnce } from "../at-once.ts";
import { closeText, contentText, type Head, headOf, sourceOf, unlessErased } from "../chain/entry.ts";
import { storableError } from "../chain/spending.ts";
import { labelsIn } from "../kinds/start/start.ts";
import type { EntryId, Link, StoredEntry } from "../ports/chain.ts";
import type { Execution, ExecutionError } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { durationOf, storableFigures } from "../protocol/record.ts";
import { sha256 } from "../sha256.ts";
import type { Erasures } from "./content-check.ts";

/**
 * The last entry of a scope that was checked and is sound, with its head (the hashed fields). At the start of a
 * branch, `entry` is the entry of the fork, and `head` is what an entry 0 of the branch would have.
 */
export interface Checked {
  head: Head;
  entry: StoredEntry;
}

/** Fields that have the same value in every entry of an execution. */
const constant = ["client", "root", "workflow_id", "workflow_version", "frozen", "sealed"] as const;

/** Text fields that every entry has. */
const texts = [
  "execution_id",
  "scope",
  "client",
  "root",
  "workflow_id",
  "node_id",
  "node_type",
  "status",
  "timestamp",
] as const;
const ofLink0 = ["machine", "definition"] as const;
const numbers = ["format", "seq", "workflow_version", "nodes"] as const;

/**
 * Returns the fault of an entry: in its own fields, in its number and scope, or in comparison with the entry before it.
 * Returns undefined if the entry has no fault.
 */
export function misfitOf(
  { seq }: Link,
  head: Head,
  { execution, scope }: Omit<EntryId, "seq">,
  last: Checked | undefined,
): string | undefined {
  const lacking =
    texts.find((field) => typeof head[field] !== "string") ??
    numbers.find((field) => typeof head[field] !== "number") ??
    (seq === 0 ? ofLink0.find((field) => typeof head[field] !== "string") : undefined);
  if (lacking !== undefined) return `its head does not say its ${lacking}`;
  const due = last ? last.head.seq + 1 : 0;
  if (seq !== due) return `link ${due} was dropped`;
  if (head.execution_id !== execution || head.scope !== scope || head.seq !== seq)
    return `it is link ${head.seq}${head.scope && ` of branch ${head.scope}`} of ${head.execution_id}, copied to this place`;
  return closeMisfit(head, last) ?? (last && misfitBehind(head, last));
}

/**
 * Returns a problem if the hashed text of an entry does not match the hash of the entry. Call this function before you
 * parse the text, because a changed text may not be JSON.
 */
export function hashMisfit({ head, hash }: StoredEntry): string | undefined {
  return sha256(head) === hash ? undefined : "its head does not have the hash stored beside it: it was changed";
}

function misfitBehind(head: Head, last: Checked): string | undefined {
  if (last.head.close) return "it was added after the close entry";
  if (head.prev !== last.entry.hash) return "it does not name the hash of the link before: one of the two was changed";
  const other = constant.find((field) => head[field] !== last.head[field]);
  if (other !== undefined) return `its ${other} is another than that of the link before`;
  if (head.close || last.head.path_taken === head.node_id) return undefined;
  return `node "${head.node_id}" does not follow node "${last.head.node_id}", whose edge leads to "${last.head.path_taken}"`;
}

/**
 * Returns the fault of a close entry; undefined if it has none. A close entry must be the last entry of the main line
 * and count all entries. If the run completed, the close entry must follow the end node.
 */
function closeMisfit({ node_type, close, scope, seq, inner = 0 }: Head, last: Checked | undefined): string | undefined {
  if ((node_type === "close") !== (close !== undefined)) return "it is half a close entry";
  if (!close) return undefined;
  if (!last || scope !== "") return "a close entry ends the main line, and nothing else";
  const count = seq + 1 + inner;
  if (close.count !== count) return `the close entry counts ${close.count} links, the chain has ${count}`;
  return close.status === "completed" && last.head.node_type !== "end"
    ? "the close entry says that the run was completed, and no end node comes before it"
    : undefined;
}

/** Returns the fault of the signature that every close entry must have; undefined if the signature is valid. */
export async function signatureMisfit({ keyPair }: Ports, { head, entry }: Checked): Promise<string | undefined> {
  const { hash, signature } = entry;
  if (signature === undefined) return "the close entry has no signature: it was dropped, or the chain was rewritten";
  return (await keyPair.verify(closeText(hash), signature, head.timestamp))
    ? undefined
    : "the signature of the close entry is not valid: the chain was rewritten, or signed with another key";
}

/** The error message in the record of a run after its contents were erased. */
export const erasedWords = "its words were erased";

/** Fields of the record that a close writes together. */
const learned = ["endedAt", "durationMs", "nodes", "spent", "tip", "error"] as const;

/** Returns whether a record says that its run has not ended. */
export function isUnderWay(record: Execution): boolean {
  const goesOn = record.status === "queued" || record.status === "running" || record.status === "waiting";
  return record.open && goesOn && learned.every((field) => record[field] === undefined);
}

/**
 * Returns a difference between the record and entry 0, which both describe the start of the run; undefined if they
 * agree.
 */
export function beginningMisfit(record: Execution, first: Head): string | undefined {
  return misfit(record, {
    id: first.execution_id,
    client: first.client,
    root: first.root,
    workflowId: first.workflow_id,
    version: first.workflow_version,
    startedAt: first.timestamp,
    parent: first.parent,
    trigger: first.trigger,
    restartedFrom: sourceOf(first),
    stateMachineArn: first.machine,
  });
}

/**
 * Returns a difference between the record and the signed close entry, which both describe the end of the run; undefined
 * if they agree.
 */
export async function endMisfit(
  { blobs }: Ports,
  record: Execution,
  first: Head,
  { head, entry }: Checked,
  erasures: Erasures,
): Promise<string | undefined> {
  const facts = {
    status: head.close?.status,
    endedAt: head.timestamp,
    durationMs: durationOf(first.timestamp, head.timestamp),
    ...storableFigures(head),
    tip: entry.hash,
  };
  const isErased = record.error?.message === erasedWords && (await erasures.has(record.id));
  const isSame = isErrorOf(record.error, head, await errorOf(entry, head, blobs), isErased);
  return misfit(record, facts) ?? (isSame ? undefined : changedField("error"));
}

function misfit(record: Execution, facts: Partial<Record<keyof Execution, unknown>>): string | undefined {
  const field = Object.entries(facts).find(([name, fact]) => !isDeepStrictEqual(record[name as keyof Execution], fact));
  return field && changedField(field[0]);
}

function changedField(field: string): string {
  return changedRecord(`its "${field}" is another than the chain's`);
}

/** Returns the error in a close entry; null if the entry has no error or if the error was erased. */
async function errorOf(entry: StoredEntry, head: Head, blobs: Ports["blobs"]): Promise<ExecutionError | null> {
  const { error } = entry.contents;
  const text = error && (await unlessErased(() => contentText(error, head, blobs)));
  return typeof text === "string" ? (JSON.parse(text) as ExecutionError) : null;
}

/**
 * Returns whether the record has the error of the close entry. This function always compares class and node. It
 * compares the messages unless an erasure has already removed the message from the record. An erasure changes the
 * record before the chain.
 */
function isErrorOf(error: ExecutionError | undefined, head: Head, known: ExecutionError | null, isErased: boolean) {
  if (!error || head.digests.error === undefined) return error === undefined && head.digests.error === undefined;
  if (error.class !== head.error_class || error.node !== head.close?.node) return false;
  if (isErased && error.message === erasedWords) return true;
  return known !== null && error.message === storableError(known).message;
}

/**
 * Returns a difference between the labels of the record and those of entry 0; undefined if they agree. An erasure
 * removes the labels of the record before those of entry 0.
 */
export async function labelsMisfit(ports: Ports, record: Execution, erasures: Erasures): Promise<string | undefined> {
  const { entry } = await ports.chain.read({ execution: record.id, scope: "", seq: 0 });
  const labels = entry && (await labelsIn(ports, entry));
  if (isDeepStrictEqual(record.labels, labels)) return undefined;
  if (record.labels === undefined && (await erasures.has(record.id))) return undefined;
  return changedRecord('its "labels" are others than those of link 0');
}

/**
 * Returns the fault in the list of restarts in the record of an execution; undefined if there is none. A restart writes
 * three items. First it writes its own entry 0, which names the source. Then it adds its id to the record of the
 * source. Last, it writes a note beside the chain of the source.
 */
export async function restartsMisfit(ports: Ports, id: string): Promise<string | undefined> {
  const notes = await ports.chain.notes(id);
  const { restarts = [] } = ((await ports.executions.get(id)) ?? {}) as Partial<Execution>;
  const noted = notes.flatMap((note) => (note.kind === "restart" ? [note.execution] : []));
  const dropped = noted.find((restart) => !restarts.includes(restart));
  if (dropped !== undefined) return changedRestarts(`lack ${dropped}`);
  const twice = restarts.find((restart, index) => restarts.indexOf(restart) !== index);
  if (twice !== undefined) return changedRestarts(`name ${twice} twice`);
  const strangers = await atOnce(restarts, async (restart) => ((await isRestart(ports, restart, id)) ? [] : [restart]));
  const [stranger] = strangers.flat();
  return stranger === undefined
    ? undefined
    : changedRestarts(`name ${stranger}, whose chain does not take over its outcomes`);
}

/**
 * Returns a problem if the record of a restart's source does not name the restart. A restart writes its id into that
 * record before it has a record of its own, so a person must have removed a missing id. `restartsMisfit` may not notice
 * this, because an attacker can also remove the note beside the chain.
 */
export async function sourceMisfit({ executions }: Ports, { id, restartedFrom }: Execution) {
  const source = restartedFrom === undefined ? undefined : await executions.get(restartedFrom);
  if (!source || source.restarts?.includes(id)) return undefined;
  return `the record of its source ${source.id} was changed: its "restarts" lack ${id}`;
}

async function isRestart({ chain }: Ports, restart: string, source: string): Promise<boolean> {
  const { entry } = await chain.read({ execution: restart, scope: "", seq: 0 });
  return entry !== undefined && sourceOf(headOf(entry)) === source;
}

function changedRestarts(how: string): string {
  return changedRecord(`its "restarts" ${how}`);
}

function changedRecord(how: string): string {
  return `the record of the run was changed: ${how}`;
}
