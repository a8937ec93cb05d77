import type { Member } from "@nova/workflow";
import { defined } from "@nova/workflow";
import type { CodeResult } from "../../ports/sandboxes.ts";
import { defaultNext, nextNodeId, takeEdge } from "../../protocol/definition.ts";
import { failed, type Outcome, type RunFacts, succeeded } from "../../protocol/outcome.ts";
import { decide } from "./decide.ts";
import type { NodeIo } from "./run-io.ts";
import type { Task } from "./task.ts";

/** What the code's result means for the run: the node's changes and the edge it takes, or why it failed. */
export async function judge(task: Task, raw: CodeResult, io: NodeIo, run: RunFacts): Promise<Outcome> {
  const { node, edges, version, position } = task;
  const result = io.withoutOverlay(raw);
  const facts = { logs: io.maskLogs(result.logs), executionTimeMs: result.durationMs, run };
  const fail = (message: string) => failed(task, io.mask(message), facts);
  if (result.status === "error") {
    const { class: name, types, httpStatus, retryAfter, traceback } = result;
    const shown = { message: io.mask(result.message), traceback: traceback === "" ? undefined : io.mask(traceback) };
    return failed(task, { class: name, ...defined({ ...shown, types, httpStatus, retryAfter }) }, facts);
  }
  const foreign = await io.foreignReference(result.set);
  const blob = foreign && `a blob that is not this node's (${foreign.ref.sha256})`;
  if (foreign) return fail(`context["${foreign.key}"] refers to ${blob} - set the value itself`);
  const problem = secretProblem(result.set, io);
  if (problem !== undefined) return fail(problem);
  const outcome = { ...succeeded(null, facts), changes: { set: result.set, delete: result.delete } };
  if (node.type === "action") return { ...outcome, next: defaultNext(task) };
  const edge = decide(result.set.find(({ key }) => key === "branch_decision")?.json, edges);
  const taken = "problem" in edge ? edge : takeEdge(task, edge, position.before.loops);
  if ("problem" in taken) return fail(taken.problem);
  const { label, to, loops } = taken;
  const more = loops && { more: { loops } };
  return { ...outcome, decision: label, next: nextNodeId(version, to), ...more };
}

/** Why what a node sets cannot be kept. */
export function secretProblem(set: readonly Member[], io: NodeIo): string | undefined {
  const leaked = io.leakedSecret(set);
  if (leaked !== undefined)
    return `context["${leaked}"] contains the value of a secret input or credential - keep secrets out of what the node sets`;
  const changed = io.changedCredential(set);
  if (changed !== undefined)
    return `context["${changed}"] belongs to a credential, and the next node would find that again - set another key`;
  return undefined;
}
