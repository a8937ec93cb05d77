import { contentText } from "../chain/contents.ts";
import { type Head, headOf } from "../chain/head.ts";
import { failureOf, inputAfter } from "../chain/position.ts";
import { linkLabel } from "../chain/scope.ts";
import { blobPages } from "../context/blob-pages.ts";
import { Context } from "../context/context.ts";
import { loadContext, loadStored } from "../context/pages.ts";
import { executionOf } from "../execution/record.ts";
import { RawJson } from "../json/raw.ts";
import { type Member, objectText } from "../json/text.ts";
import type { ContentName, StoredEntry } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { maskSlots, secretKeys } from "../secrets/secret-inputs.ts";

/** One entry of the chain of work as the world sees it; field names are public. Contexts are given with `full` only. */
export interface TraceEntry {
  seq: number;
  scope: string;
  node_id: string;
  node_type: string;
  status: "success" | "failed";
  error_class: string | null;
  error_message: string | null;
  traceback: string | null;
  decision_result: string | null;
  path_taken: string | null;
  changes: { set: RawJson; delete: string[] };
  execution_time_ms: number;
  attempt: number;
  sandbox_id: string | null;
  timestamp: string;
  hash: string;
  prev: string | null;
  code_hash: string | null;
  ai_metadata: null;
  steps: RawJson[];
  code_executed?: string | null;
  input_context?: RawJson | null;
  output_result?: RawJson | null;
  logs?: string | null;
}

export interface Trace {
  execution: Execution;
  entries: TraceEntry[];
  /** Nodes in the order in which they ran, start and end included, the close not. */
  path: string[];
  /** The context after the last link. */
  context: RawJson;
}

/** The chain of work of an execution. What was erased is null. Throws `ExecutionNotFound`. */
export async function readTrace(ports: Ports, id: string, { full = false } = {}): Promise<Trace> {
  const execution = await executionOf(ports, id);
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const codes = new Map(
    version?.workflow.nodes.flatMap((node) =>
      "executor" in node && node.executor.kind === "code" ? [[node.id, node.executor.code]] : [],
    ),
  );
  const secrets = version ? secretKeys(version.workflow) : new Set<string>();
  const entries: TraceEntry[] = [];
  let before: { entry: StoredEntry; context: Context | null } | undefined;
  for await (const { entry } of ports.chain.links(id, "")) {
    if (!entry) continue;
    const head = headOf(entry);
    const context = head.digests.context ? await contextOf(ports, entry, head, secrets) : (before?.context ?? null);
    entries.push(await traceEntry(ports, entry, head, context, before, full ? codes : undefined));
    before = { entry, context };
  }
  return {
    execution,
    entries,
    path: entries.filter(({ node_type }) => node_type !== "close").map(({ node_id }) => node_id),
    context: rawContext(before?.context ?? null) ?? new RawJson("{}"),
  };
}

async function traceEntry(
  ports: Ports,
  entry: StoredEntry,
  head: Head,
  context: Context | null,
  before: { entry: StoredEntry; context: Context | null } | undefined,
  codes: Map<string, string> | undefined,
): Promise<TraceEntry> {
  const failure = head.digests.error ? await unlessErased(() => failureOf(entry, ports.blobs)) : null;
  const ownSet: Member[] = head.node_type === "close" ? [] : (context?.writtenBy(linkLabel(head)) ?? []);
  const steps =
    head.steps.length > 0
      ? await ports.chain.steps({ execution: head.execution_id, scope: head.scope, seq: head.seq })
      : [];
  const input = codes && before?.context ? await inputAfter(before.entry, before.context, ports.blobs) : null;
  return {
    seq: head.seq,
    scope: head.scope,
    node_id: head.node_id,
    node_type: head.node_type,
    status: head.status,
    error_class: head.error_class ?? null,
    error_message: failure?.message ?? null,
    traceback: failure?.traceback ?? null,
    decision_result: head.decision_result,
    path_taken: head.path_taken,
    changes: { set: new RawJson(objectText(ownSet)), delete: await deletedBy(ports, entry, head) },
    execution_time_ms: head.execution_time_ms,
    attempt: head.attempt,
    sandbox_id: head.sandbox_id,
    timestamp: head.timestamp,
    hash: entry.hash,
    prev: head.prev,
    code_hash: head.code,
    ai_metadata: null,
    steps: steps.filter(({ hash }) => head.steps.includes(hash)).map(({ text }) => new RawJson(text)),
    ...(codes && {
      code_executed: head.code === null ? null : (codes.get(head.node_id) ?? null),
      input_context: rawContext(input),
      output_result: rawContext(context),
      logs: await contentOrNull(ports, entry, head, "logs"),
    }),
  };
}

/** The context that a link left, with secret inputs masked. */
async function contextOf(
  ports: Ports,
  entry: StoredEntry,
  head: Head,
  secrets: ReadonlySet<string>,
): Promise<Context | null> {
  const text = await contentOrNull(ports, entry, head, "context");
  if (text === null) return null;
  return unlessErased(async () => {
    const { context } = await loadContext(text, blobPages(ports.blobs, head));
    return new Context(maskSlots(context.slots(), secrets));
  });
}

async function deletedBy(ports: Ports, entry: StoredEntry, head: Head): Promise<string[]> {
  const text = head.digests.context ? await contentOrNull(ports, entry, head, "context") : null;
  return text === null ? [] : loadStored(text).deleted;
}

function contentOrNull(ports: Ports, entry: StoredEntry, head: Head, name: ContentName): Promise<string | null> {
  const content = entry.contents[name];
  return content ? unlessErased(() => contentText(content, head, ports.blobs)) : Promise.resolve(null);
}

async function unlessErased<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error && error.name === "BlobMissing") return null;
    throw error;
  }
}

function rawContext(context: Context | null): RawJson | null {
  return context && new RawJson(objectText(context.slots()));
}
