import type { Head } from "../chain/head.ts";
import { sha256 } from "../json/hash.ts";
import type { Link, LinkId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** The last link of a scope that holds so far; in front of a branch what its link 0 would say, with the fork's hash. */
export interface Checked {
  head: Head;
  entry: StoredEntry;
}

/** What every entry of an execution says as the one before does: whose run it is, and of what. */
const constant = ["client", "root", "workflow_id", "workflow_version", "frozen"] as const;

/** What every entry has said since there are any. */
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
const numbers = ["format", "seq", "workflow_version", "nodes"] as const;

/** What is wrong with a link by itself, at its place, and behind the last one. */
export function misfitOf(
  { seq }: Link,
  head: Head,
  { execution, scope }: Omit<LinkId, "seq">,
  last: Checked | undefined,
): string | undefined {
  const lacking =
    texts.find((field) => typeof head[field] !== "string") ?? numbers.find((field) => typeof head[field] !== "number");
  if (lacking !== undefined) return `its head does not say its ${lacking}`;
  const due = last ? last.head.seq + 1 : 0;
  if (seq !== due) return `link ${due} was dropped`;
  if (head.execution_id !== execution || head.scope !== scope || head.seq !== seq)
    return `it is link ${head.seq}${head.scope && ` of branch ${head.scope}`} of ${head.execution_id}, copied to this place`;
  return closeMisfit(head, last) ?? (last && misfitBehind(head, last));
}

/** Before anything else: a head that has another hash may not even be JSON. */
export function hashMisfit({ head, hash }: StoredEntry): string | undefined {
  return sha256(head) === hash ? undefined : "its head does not have the hash stored beside it: it was changed";
}

function misfitBehind(head: Head, last: Checked): string | undefined {
  if (last.head.close) return "it was added behind the close entry";
  if (head.prev !== last.entry.hash) return "it does not name the hash of the link before: one of the two was changed";
  const other = constant.find((field) => head[field] !== last.head[field]);
  if (other !== undefined) return `its ${other} is another than that of the link before`;
  if (head.close || last.head.path_taken === head.node_id) return undefined;
  return `node "${head.node_id}" does not follow node "${last.head.node_id}", whose edge leads to "${last.head.path_taken}"`;
}

/** A close ends the main line, behind the end node where the run was completed, and counts all entries. */
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

/** What is wrong with the signature of a close entry, which every one has had since there are any. */
export async function signatureMisfit(
  { signer }: Pick<Ports, "signer">,
  { hash, signature }: StoredEntry,
): Promise<string | undefined> {
  if (signature === undefined) return "the close entry has no signature: it was dropped, or the chain was rewritten";
  return (await signer.verify(hash, signature))
    ? undefined
    : "the signature of the close entry is not valid: the chain was rewritten, or signed with another key";
}
