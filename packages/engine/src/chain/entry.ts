import type { NodeType, RunErrorClass } from "@nova/workflow";
import { recoverFrom } from "../errors.ts";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { ContentName, EntryId, RecordedTimes, StoredContent, StoredEntry } from "../ports/chain.ts";
import type { ExecutionStatus, Parent, Spending } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { sha256 } from "../sha256.ts";

/**
 * The head of an entry: its hashed part, in format 1. It has only digests of personal data, so that NOVA can erase the
 * data itself.
 */
export interface Head extends BlobHome {
  format: 1;
  execution_id: string;
  scope: string;
  seq: number;
  workflow_id: string;
  workflow_version: number;
  node_id: string;
  node_type: NodeType | "join" | "vote" | "close";
  status: "success" | "failed";
  error_class?: RunErrorClass;
  attempt: number;
  decision_result: string | null;
  /** The node to which the taken edge leads: `<fork>.join` after a fork, null at the end of an item of a map. */
  path_taken: string | null;
  timestamp: string;
  execution_time_ms: number;
  sandbox_id: string | null;
  /** The sandbox that the next node of the scope may use. */
  warm: Sandbox | null;
  /** Further sandboxes of the scope. Branches that start after this entry share them. Absent: none. */
  spare?: Sandbox[];
  /** SHA-256 of the code that ran; null if no code ran. For a prompt node: the code that the model wrote last. */
  code: string | null;
  /**
   * The IP addresses of each host that the code could reach on ports other than 80 and 443, by host name. Absent: none.
   */
  addresses?: Readonly<Record<string, readonly string[]>>;
  /** How many deliveries failed before the first attempt started. Absent: none. */
  failed_deliveries?: number;
  /** Absent: the node waited for nothing and used no sandbox, or its outcome is reused. */
  times?: RecordedTimes;
  generation?: string;
  /** Set if a prompt node succeeded with its pinned code, without a model. */
  cache_hit?: true;
  /** SHA-256 of the analysis code that ran before pinned code. */
  analysis?: string;
  /** SHA-256 of the question that a text node asked its model, together with the settings of the node. */
  asked?: string;
  /** How many nodes have run code so far, in this scope and in the branches that were joined in it. */
  nodes: number;
  /**
   * The cost of models so far: in this scope, in the branches that were joined in it, and in the executions that its
   * nodes ran. Absent: there was no cost.
   */
  spent?: Spending;
  /** Only pinned code may run in this execution. All entries of the execution have the same value. */
  frozen?: true;
  /**
   * Set in a sealed execution. There, a node without a recorded outcome runs only if it has no effects. Its code gets
   * no network and no credentials.
   */
  sealed?: true;
  /**
   * Ids of prompt nodes whose code a model writes again, even if earlier executions have pinned code. All entries of
   * the execution have the same value. Absent: none.
   */
  fresh?: readonly string[];
  /** The number of entries in all branches that were joined in this scope so far. Absent: none. */
  inner?: number;
  /** How often the run has taken each edge with a `max` since it entered the loop of the edge, by `<from>-><label>`. */
  loops?: Readonly<Record<string, number>>;
  /**
   * The largest number of events that this scope can have in the history of its Step Functions execution. Absent: not
   * counted.
   */
  events?: number;
  /**
   * Only on the main line: the number of the further execution in which the run continues, and the `seq` of the entry
   * that led to it.
   */
  continuation?: { number: number; seq: number };
  count?: number;
  /** For an agent's entry with calls: the first node of each call. Absent: the answer is final. */
  calls?: readonly string[];
  /** Only in entry 0 of a child execution: the node that runs the child. */
  parent?: Parent;
  /** In entry 0: the trigger of the workflow that started the run. Absent: a caller started the run. */
  trigger?: string;
  /** In every entry 0: the ARN of the state machine version that runs the execution. */
  machine?: string;
  /** In every entry 0: `runHash` of the definition. */
  definition?: string;
  child?: ChildTip;
  /**
   * Only in entry 0: the first run, which this run restarts directly or through other restarts. Absent: this run is no
   * restart, and no node runs it. In an execution that a node runs, `place` is the prefix of the places of that
   * execution.
   */
  origin?: Origin;
  plan?: Plan;
  /** The entry of an earlier execution whose outcome this entry reuses. The node did not run here. */
  reused_from?: ReusedEntry;
  /** The person who wrote the outcome by hand. No code ran for this entry. */
  edited?: Edited;
  /**
   * How often the run has visited each node that is in a loop. The names of places contain these numbers. Absent in an
   * execution that reuses nothing and has visited no such node.
   */
  visits?: Readonly<Record<string, number>>;
  /** Hash of the entry before; null in entry 0. */
  prev: string | null;
  /** SHA-256 of the text of each content. */
  digests: Partial<Record<ContentName, string>>;
  /** Hashes of the steps that belong to this entry, in order. */
  steps: string[];
  /** In the close entry only. `count` is the number of all entries of the execution, and includes this entry. */
  close?: {
    status: CloseStatus;
    count: number;
    /** The node that failed the run. Absent: the run has completed. */
    node?: string;
    /** Ids of the pooled sandboxes that lived at the close; other executions may use them later. Absent: none. */
    idle?: string[];
  };
}

/**
 * The first run, which all restarts repeat. `place` is empty for that run itself, and `billing/` for the execution that
 * the node `billing` of that run runs.
 */
export interface Origin {
  execution: string;
  place: string;
}

/** Returns the text that NOVA signs when a run ends. `hash` is the hash of the run's close entry. */
export function closeText(hash: string): string {
  return `nova close v1\n${hash}`;
}

export type CloseStatus = Extract<ExecutionStatus, "completed" | "failed" | "cancelled" | "interrupted">;

/** The fields of entries for which no code runs: entry 0, and close entries. */
export const noRun = {
  attempt: 1,
  decision_result: null,
  execution_time_ms: 0,
  sandbox_id: null,
  warm: null,
  code: null,
  steps: [] as string[],
};

export function sourceOf({ plan }: Head): string | undefined {
  return plan?.after;
}

const parsedHeads = new WeakMap<StoredEntry, { text: string; head: Head }>();

/** Returns the head of an entry. All callers get the same object, so they must not change it. */
export function headOf(entry: StoredEntry): Head {
  const parsed = parsedHeads.get(entry);
  if (parsed?.text === entry.head) return parsed.head;
  const head = JSON.parse(entry.head) as Head;
  parsedHeads.set(entry, { text: entry.head, head });
  return head;
}

/** An execution that a node ran. `tip` is the hash of its close entry. */
export interface ChildTip {
  execution: string;
  workflow: string;
  version: number;
  tip: string;
}

/** Names the document of places that this execution reuses. A node whose place has no outcome runs. */
export interface Plan {
  /** SHA-256 of the document (`outcomes.ts`), which is a blob of this execution. */
  outcomes: string;
  /** The prefix of this execution's places in the document, such as `billing/`. Set if a node runs this execution. */
  within?: string;
  /**
   * The earlier execution that this execution restarts or follows. When the contents of the earlier execution are
   * erased, the contents of this execution are erased, too.
   */
  after?: string;
  /** Hash of the last entry of `after`, if the document refers to entries of that execution. */
  tip?: string;
  from?: string[];
  /** Nodes that run again at every place. */
  again?: string[];
  /** Keys of the initial context whose values differ from those in `after`, and the author of the patch. */
  patch?: { keys: string[]; by: string };
}

export interface Edited {
  by: string;
  at: string;
}

export interface ReusedEntry extends EntryId {
  hash: string;
}

/** The last entry of a branch. The content `branches` of a join is a list of such entries. */
export type BranchTip = Omit<ReusedEntry, "execution">;

export interface FailureRecord {
  message: string;
  /** Only for a join: the node that failed, and in `within` its branch. `message` names both. */
  node?: string;
  within?: string;
  /** Only for a join: the message of the node that failed, without the names of node and branch. */
  reason?: string;
  traceback?: string;
}

/**
 * The largest number of bytes of contents that NOVA stores inline in one item of DynamoDB. An item of 400 KB would cost
 * 400 write units, so a partition could take only 2.5 such items a second.
 */
export const inlineContentsBytes = 8192;

interface SealedContents<Name extends string> {
  contents: Partial<Record<Name, StoredContent>>;
  digests: Partial<Record<Name, string>>;
}

/** Computes the digests of all contents, and moves the largest contents to blobs until the rest fits an item. */
export async function sealContents<Name extends string>(
  texts: Partial<Record<Name, string>>,
  home: BlobHome,
  blobs: BlobStore,
): Promise<SealedContents<Name>> {
  const sized = (Object.entries(texts) as [Name, string][])
    .map(([name, text]) => ({ name, text, bytes: Buffer.byteLength(text), digest: sha256(text) }))
    .sort((a, b) => a.bytes - b.bytes);
  const sealed: SealedContents<Name> = { contents: {}, digests: {} };
  let inline = 0;
  for (const { name, text, bytes, digest } of sized) {
    inline += bytes;
    sealed.digests[name] = digest;
    if (inline <= inlineContentsBytes) {
      sealed.contents[name] = { text };
    } else {
      await blobs.put(home, { sha256: digest, bytes, type: "text" }, Buffer.from(text));
      sealed.contents[name] = { blob: { sha256: digest, bytes } };
    }
  }
  return sealed;
}

/** Reads the text of a content. Throws `BlobMissing` if it was erased. */
export async function contentText(content: StoredContent, home: BlobHome, blobs: BlobStore): Promise<string> {
  return "text" in content ? content.text : Buffer.from(await blobs.get(home, content.blob.sha256)).toString();
}

export async function unlessErased<T>(read: () => Promise<T>): Promise<T | null> {
  return read().catch(recoverFrom("BlobMissing", () => null));
}

/** Reads a content of an entry; null if the entry has none, or if it was erased. */
export async function contentOrNull(
  { blobs }: Pick<Ports, "blobs">,
  entry: StoredEntry,
  head: Head,
  name: ContentName,
): Promise<string | null> {
  const content = entry.contents[name];
  return content ? unlessErased(() => contentText(content, head, blobs)) : null;
}

/**
 * Builds an entry, and stores its large contents as blobs. The hash of the entry covers all other fields and the
 * digests of all contents.
 */
export async function sealEntry(
  fields: Omit<Head, "format" | "digests">,
  texts: Partial<Record<ContentName, string>>,
  blobs: BlobStore,
): Promise<StoredEntry> {
  const { contents, digests } = await sealContents(texts, fields, blobs);
  const head = JSON.stringify({ format: 1, ...fields, digests } satisfies Head);
  return { head, hash: sha256(head), contents };
}
