import { type ChainEntry, findFailedLine, type NovaClient } from "@nova/client";
import { RawJson } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { z } from "zod";
import { cutText } from "../fit.ts";
import { changes, Draft, Execution, exactText, JsonText, linkToCall, reads, tool, WorkflowId } from "../tool.ts";
import {
  describeRefusal,
  describeRun,
  findFailure,
  flattenEntries,
  linkToEntry,
  outputsText,
  placeOf,
  RunError,
  RunResult,
  readUntil,
  Verdict,
  verdictOf,
} from "../verdict.ts";

export const WaitSeconds = z.number().min(0).max(600).optional().describe("longest wait in seconds");

export const run = tool({
  name: "run",
  description: "Run a workflow, or the stale nodes of a draft, and wait for the end.",
  input: z.object({
    workflow: WorkflowId.optional(),
    version: z.number().optional(),
    draft: Draft.optional().describe("instead of a workflow"),
    node: z.string().optional().describe("of the draft: only this node"),
    context: JsonText.optional(),
    client: z.string().optional(),
    wait_seconds: WaitSeconds,
  }),
  output: RunResult,
  hints: changes,
  async call({ workflow, draft, wait_seconds, ...asked }, { nova, maxWaitSeconds }) {
    const deadline = Date.now() + Math.min(wait_seconds ?? maxWaitSeconds, maxWaitSeconds) * 1000;
    if ((workflow === undefined) === (draft === undefined)) throw new RangeError("give either a workflow or a draft");
    try {
      if (draft !== undefined) return await runDraft(nova, draft, { ...asked, deadline });
      const { version, client, context } = asked;
      const values = context === undefined ? undefined : new RawJson(context);
      const body = defined({ version, client_slug: client, context: values });
      const started = await nova.executions.execute(workflow as string, body);
      return await describeRun(nova, await readUntil(nova, started.execution_id, deadline));
    } catch (cause) {
      const whole = draft === undefined ? [] : linkToCall("validate", { draft }, "the findings of the draft");
      return { result: describeRefusal(cause), whole };
    }
  },
});

interface DraftRun {
  node?: string | undefined;
  context?: string | undefined;
  deadline: number;
}

async function runDraft(nova: NovaClient, draft: string, { node, context, deadline }: DraftRun) {
  if (context !== undefined)
    throw new RangeError("a draft keeps the context that edit gave it when it was made - make another draft with edit");
  const { sessions } = nova;
  const started =
    node === undefined ? await sessions.run(draft, { wait: 0 }) : await sessions.runNode(draft, node, { wait: 0 });
  const id = started.execution_id;
  const execution = id === null ? null : await readUntil(nova, id, deadline);
  const described = execution && (await describeRun(nova, execution));
  const { outputs } = await sessions.outputs(draft);
  const next = `publish {"draft":"${draft}"} makes it the next version`;
  const nothing = { execution_id: null, status: "completed", error: null, findings: [] };
  const result = described?.result ?? { verdict: "ok" as const, ...nothing, next };
  const isRight = result.verdict === "ok";
  return {
    result: { ...result, context: outputsText(outputs), next: isRight ? next : result.next },
    whole: [{ uri: `nova://drafts/${draft}/outputs`, name: "the outputs" }, ...(described?.whole ?? [])],
  };
}

export const runs = tool({
  name: "runs",
  description: "List runs, newest first.",
  input: z.object({
    workflow: WorkflowId.optional(),
    status: z.enum(["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"]).optional(),
    label: z.string().optional().describe("order=PO-10"),
    cursor: z.string().optional(),
  }),
  output: z.object({
    items: z.array(
      z.object({
        execution_id: z.string(),
        workflow: z.string(),
        version: z.number(),
        status: z.string(),
        started_at: z.string(),
        error: z.object({ node: z.string(), message: z.string() }).nullable(),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  hints: reads,
  async call({ workflow, status, label, cursor }, { nova }) {
    const query = { limit: 20, ...defined({ workflow, status, label, cursor }) };
    const { items, next_cursor } = await nova.ask(nova.api.GET("/executions", { params: { query } }));
    return {
      result: {
        items: items.map(({ execution_id, workflow, version, status, started_at, error }) => ({
          execution_id,
          workflow,
          version,
          status,
          started_at,
          error: error && { node: error.node, message: cutText(error.message, 300) },
        })),
        next_cursor,
      },
    };
  },
});

const Entry = z.object({
  place: z.string().describe("number and scope of the entry: 3, or 3/2@fork.branch"),
  node: z.string(),
  type: z.string(),
  status: z.string(),
  ms: z.number(),
  decision: z.string().nullable(),
  set: z.string().nullable().describe("JSON text of the keys that it set; null: too large"),
  error: z.string().nullable(),
});

const Detail = z
  .object({
    code: z.string().nullable(),
    line: z.number().nullable(),
    traceback: z.string().nullable(),
    logs: z.string().nullable(),
    found: z.string().nullable().describe("JSON text of the context that it found; null: too large"),
  })
  .nullable();

export const trace = tool({
  name: "trace",
  description:
    "Show a run: its verdict and error first, then its steps, page by page. With a node: its code, logs and values.",
  input: z.object({
    execution_id: Execution,
    node: z.string().optional().describe("its last failed visit, or its last"),
    cursor: z.string().optional(),
  }),
  output: z.object({
    verdict: Verdict,
    workflow: z.string(),
    version: z.number(),
    status: z.string(),
    error: RunError,
    detail: Detail,
    entries: z.array(Entry),
    next_cursor: z.string().nullable(),
  }),
  hints: reads,
  async call({ execution_id: id, node, cursor }, { nova }) {
    const execution = await nova.executions.get(id);
    const { workflow, version, status } = execution;
    const { error, link } = await findFailure(nova, execution);
    const about = { verdict: verdictOf(status), workflow, version, status, error };
    if (node !== undefined) {
      const { detail, entry, whole, isPart } = await readVisit(nova, id, node);
      const result = { ...about, detail, entries: [entry], next_cursor: null };
      return { result, whole: [whole, ...link.filter(({ uri }) => uri !== whole.uri)], isPart };
    }
    const { entries, next_cursor } = await readPage(nova, id, cursor);
    return { result: { ...about, detail: null, entries, next_cursor } };
  },
});

/**
 * The number of entries of the main line that one request reads. Each of these entries may have branches with many
 * entries.
 */
const pageEntries = 10;
const maxEntries = 25;
const maxPageBytes = 12 * 1024;

/** Splits a position in a chain: `<cursor of the page>|<number of entries to skip in the page>`. */
function splitCursor(cursor: string): { cursor?: string; skip: number } {
  const at = cursor.lastIndexOf("|");
  const skip = Number(cursor.slice(at + 1));
  if (at < 0 || !Number.isInteger(skip)) throw new RangeError("send a cursor as it was answered");
  return { skip, ...(at > 0 && { cursor: cursor.slice(0, at) }) };
}

async function readPage(nova: NovaClient, id: string, position = "|0") {
  const { cursor, skip } = splitCursor(position);
  const query = { limit: pageEntries, ...defined({ cursor }) };
  const page = await nova.ask(nova.api.GET("/executions/{id}/chain", { params: { path: { id }, query } }));
  const all = flattenEntries(page.items);
  const entries = firstFitting(all.slice(skip, skip + maxEntries).map(showEntry));
  const rest = all.length > skip + entries.length ? `${cursor ?? ""}|${skip + entries.length}` : undefined;
  const next = page.next_cursor === null ? null : `${page.next_cursor}|0`;
  return { entries, next_cursor: rest ?? next };
}

function firstFitting<T>(items: readonly T[]): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += Buffer.byteLength(JSON.stringify(item));
    return index > 0 && bytes > maxPageBytes;
  });
  return items.slice(0, end < 0 ? items.length : end);
}

function showEntry(entry: ChainEntry): z.output<typeof Entry> {
  const { node_id, node_type, status, execution_time_ms, decision_result, error_message } = entry;
  const set = exactText(entry.changes.set);
  return {
    place: placeOf(entry),
    node: node_id,
    type: node_type,
    status,
    ms: execution_time_ms,
    decision: decision_result,
    set: set !== null && set.length > 300 ? null : set,
    error: error_message && cutText(error_message, 300),
  };
}

async function readVisit(nova: NovaClient, id: string, node: string) {
  let found: ChainEntry | undefined;
  for await (const top of nova.executions.chain(id, { limit: 200 })) {
    for (const entry of flattenEntries([top])) {
      if (entry.node_id === node && !(found?.status === "failed" && entry.status !== "failed")) found = entry;
    }
  }
  if (!found) throw new RangeError(`node "${node}" has not run in ${id} - trace without a node lists those that have`);
  const { seq, scope } = found;
  const entry = await nova.executions.link(id, seq, { scope });
  const whole = linkToEntry(id, found, "the entry");
  const { code_executed, traceback, logs, input_context } = entry;
  const detail = {
    code: code_executed ?? null,
    line: findFailedLine(traceback),
    traceback: traceback ?? null,
    logs: logs ? logs.slice(-maxLogs) : null,
    found: exactText(input_context),
  };
  return { detail, entry: showEntry(entry), whole, isPart: (logs ?? "").length > maxLogs };
}

/**
 * The largest number of characters of logs in a result. They come from the end of the logs, because the latest lines
 * matter most.
 */
const maxLogs = 2_000;
