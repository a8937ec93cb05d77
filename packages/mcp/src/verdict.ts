import { ApiProblem, type ChainEntry, findFailedLine, type NovaClient, type WholeExecution } from "@nova/client";
import { membersOf, renderJson } from "@nova/engine";
import { z } from "zod";
import { type Called, exactText, Finding, type Link, listFindings, Next } from "./tool.ts";

export const Verdict = z.enum(["ok", "failed", "invalid", "waiting", "running"]);
export type Verdict = z.output<typeof Verdict>;

export const RunError = z
  .object({
    node: z.string(),
    line: z.number().nullable().describe("line of the node's code"),
    message: z.string(),
    keys: z.array(z.string()).describe("keys of the context that the node found"),
  })
  .nullable();
export type RunError = z.output<typeof RunError>;

export const RunResult = z.object({
  verdict: Verdict,
  execution_id: z.string().nullable(),
  status: z.string(),
  error: RunError,
  findings: z.array(Finding),
  context: z.string().nullable().describe("JSON text; null: too large, or no end yet"),
  next: Next,
});
export type RunResult = z.output<typeof RunResult>;

export function verdictOf(status: string): Verdict {
  if (status === "completed") return "ok";
  if (status === "queued" || status === "running") return "running";
  return status === "waiting" ? "waiting" : "failed";
}

/** Reads a run when it has ended or waits for a person, but at `deadline` at the latest. */
export async function readUntil(nova: NovaClient, id: string, deadline: number): Promise<WholeExecution> {
  for (let pauseMs = 100; ; pauseMs = Math.min(1_000, pauseMs * 1.5)) {
    const execution = await nova.executions.get(id);
    if (verdictOf(execution.status) !== "running" || Date.now() + pauseMs >= deadline) return execution;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Describes a run with its verdict, its error and its context. */
export async function describeRun(
  nova: NovaClient,
  execution: WholeExecution,
): Promise<Required<Pick<Called<RunResult>, "result" | "whole">>> {
  const { execution_id: id, status } = execution;
  const verdict = verdictOf(status);
  const { error, link } = await findFailure(nova, execution);
  const isOver = verdict === "ok" || verdict === "failed";
  const context = isOver ? exactText(execution.context) : null;
  return {
    result: { verdict, execution_id: id, status, error, findings: [], context, next: adviceFor(verdict, id, error) },
    whole: [...(context === null ? [] : [{ uri: `nova://executions/${id}/context`, name: "the context" }]), ...link],
  };
}

function adviceFor(verdict: Verdict, id: string, error: RunError): string {
  if (verdict === "ok") return `trace {"execution_id":"${id}"} shows each step`;
  if (verdict === "waiting") return `tasks {"execution_id":"${id}"} lists the question, and answer answers it`;
  if (verdict === "running") return `trace {"execution_id":"${id}"} shows how far it is`;
  const at = error ? `,"node":"${error.node}"` : "";
  return `trace {"execution_id":"${id}"${at}} shows code and values; edit repairs the code, restart runs the rest`;
}

/**
 * Returns the result for a run that could not start. Throws `cause` again if it is not a refusal with findings or
 * misfits.
 */
export function describeRefusal(cause: unknown): RunResult {
  if (!(cause instanceof ApiProblem) || cause.status !== 422) throw cause;
  const own = cause.errors.map(({ path, message }) => ({ code: "INPUT", severity: "error", path, message }));
  const findings = listFindings([...(cause.findings as Finding[]), ...own]);
  const error = { node: "", line: null, message: cause.message, keys: [] };
  const next = "correct what the findings name, with edit or with another context, and run again";
  return { verdict: "invalid", execution_id: null, status: "refused", error, findings, context: null, next };
}

const pageEntries = 200;
/** The largest number of pages of a chain in which the failed entry is searched. */
const maxPages = 10;

/**
 * Finds the error of a run, with the failed line of the code and the keys in the context of the failed node. `link`
 * leads to the resource of the failed entry, which contains these values in full.
 */
export async function findFailure(
  nova: NovaClient,
  execution: WholeExecution,
): Promise<{ error: RunError; link: readonly Link[] }> {
  const { execution_id: id, error } = execution;
  if (!error) return { error: null, link: [] };
  const { message } = error;
  const entry = await findFailedEntry(nova, id, error.node);
  if (!entry) return { error: { node: error.node, line: null, message, keys: [] }, link: [] };
  const { seq, scope, traceback, node_id } = entry;
  const whole = await nova.executions.link(id, seq, { scope });
  const keys = membersOf(exactText(whole.input_context) ?? "{}").map(({ key }) => key);
  return {
    error: { node: node_id, line: findFailedLine(traceback), message, keys },
    link: [linkToEntry(id, entry, "the failed entry")],
  };
}

export function linkToEntry(id: string, entry: ChainEntry, name: string): Link {
  return { uri: `nova://executions/${id}/entries/${encodeURIComponent(placeOf(entry))}`, name };
}

/** Returns the number and the scope of an entry: `3`, or `3/2@fork.branch`. */
export function placeOf({ seq, scope }: ChainEntry): string {
  return scope === "" ? String(seq) : `${seq}/${scope}`;
}

async function findFailedEntry(nova: NovaClient, id: string, node: string): Promise<ChainEntry | undefined> {
  let found: ChainEntry | undefined;
  let count = 0;
  for await (const entry of nova.executions.chain(id, { limit: pageEntries })) {
    found = flattenEntries([entry]).findLast((one) => one.status === "failed" && one.node_id === node) ?? found;
    if (++count >= pageEntries * maxPages) break;
  }
  return found;
}

/** Lists entries, together with the entries of their branches and items, in order. */
export function flattenEntries(entries: readonly ChainEntry[]): ChainEntry[] {
  return entries.flatMap((entry) => [
    entry,
    ...(entry.branches ?? []).flatMap((branch) => flattenEntries(branch.entries)),
  ]);
}

/** Returns the outputs of a draft's nodes as one JSON object. Its keys are the ids of the nodes. */
export function outputsText(outputs: readonly { node_id: string; output: unknown }[]): string {
  return renderJson(Object.fromEntries(outputs.map(({ node_id, output }) => [node_id, output])));
}
