import { isDeepStrictEqual } from "node:util";
import { contentText, unlessErased } from "../chain/contents.ts";
import type { Head } from "../chain/head.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Execution, ExecutionError } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { durationOf } from "../protocol/finish-close.ts";
import type { Checked } from "./misfit.ts";

/** In the record of a run whose contents were erased, in place of its error's message. */
export const erasedWords = "its words were erased";

/** What the record has learned of a close: all of it at once, or nothing yet. */
const learned = ["endedAt", "durationMs", "nodes", "spent", "tip", "error"] as const;

/** Whether a record says that its run has not ended. */
export function isUnderWay(record: Execution): boolean {
  const goesOn = record.status === "queued" || record.status === "running" || record.status === "waiting";
  return record.open && goesOn && learned.every((field) => record[field] === undefined);
}

/** What the record says of how the run began, and link 0 does not. */
export function beginningMisfit(record: Execution, first: Head): string | undefined {
  return misfit(record, {
    id: first.execution_id,
    client: first.client,
    root: first.root,
    workflowId: first.workflow_id,
    version: first.workflow_version,
    startedAt: first.timestamp,
    parent: first.parent,
    // Absent in what earlier releases wrote. It is part of what is hashed, so nobody can leave it out afterwards.
    ...(first.machine !== undefined && { stateMachineArn: first.machine }),
  });
}

/** What the record says of how the run ended, and the signed close entry does not. */
export async function endMisfit(
  { blobs }: Pick<Ports, "blobs">,
  record: Execution,
  first: Head,
  { head, entry }: Checked,
): Promise<string | undefined> {
  const facts = {
    status: head.close?.status,
    endedAt: head.timestamp,
    durationMs: durationOf(first.timestamp, head.timestamp),
    nodes: head.nodes,
    spent: head.spent,
    tip: entry.hash,
  };
  const isSame = isErrorOf(record.error, head, await errorOf(entry, head, blobs));
  return misfit(record, facts) ?? (isSame ? undefined : changed("error"));
}

function misfit(record: Execution, facts: Partial<Record<keyof Execution, unknown>>): string | undefined {
  const field = Object.entries(facts).find(([name, fact]) => !isDeepStrictEqual(record[name as keyof Execution], fact));
  return field && changed(field[0]);
}

function changed(field: string): string {
  return `the record of the run was changed: its "${field}" is another than the chain's`;
}

/** Null where it was erased. */
async function errorOf(entry: StoredEntry, head: Head, blobs: Ports["blobs"]): Promise<ExecutionError | null> {
  const { error } = entry.contents;
  const text = error && (await unlessErased(() => contentText(error, head, blobs)));
  return text ? (JSON.parse(text) as ExecutionError) : null;
}

/** Where its words were erased in the chain, the record has none either: the class is in the head. */
function isErrorOf(error: ExecutionError | undefined, head: Head, known: ExecutionError | null): boolean {
  if (!error || head.digests.error === undefined) return error === undefined && head.digests.error === undefined;
  if (error.class !== head.error_class) return false;
  if (error.message === erasedWords) return true;
  return error.node === known?.node && error.message.toWellFormed() === known.message.toWellFormed();
}
