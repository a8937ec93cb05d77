import { conditionLabel, defaultLabel, defined, type Edge, isSameJson, type Member } from "@nova/workflow";
import type { Turn } from "../ports/chain.ts";
import type { CodeResult, Sandbox } from "../ports/sandboxes.ts";
import { defaultNext, nextNodeId, takeEdge } from "../protocol/definition.ts";
import { buildFailure, type Outcome, type RunFacts } from "../protocol/outcome.ts";
import { warmBefore } from "../sandboxes/life.ts";
import type { NodeIo, Task } from "./task-input.ts";

export async function judge(task: Task, raw: CodeResult, io: NodeIo, run: RunFacts): Promise<Outcome> {
  const { node, edges, version, position } = task;
  const result = io.withoutOverlay(raw);
  const facts = { logs: io.maskLogs(result.logs), executionTimeMs: result.durationMs, run };
  const fail = (message: string) => buildFailure(task, io.mask(message), facts);
  if (result.status === "error") {
    const { class: name, types, httpStatus, retryAfter, traceback } = result;
    const shown = { message: io.mask(result.message), traceback: traceback === "" ? undefined : io.mask(traceback) };
    return buildFailure(task, { class: name, ...defined({ ...shown, types, httpStatus, retryAfter }) }, facts);
  }
  const foreign = await io.foreignReference(result.set);
  const blob = foreign && `a blob that is not this node's (${foreign.ref.sha256})`;
  if (foreign) return fail(`context["${foreign.key}"] refers to ${blob} - set the value itself`);
  const problem = secretProblem(result.set, io);
  if (problem !== undefined) return fail(problem);
  const changes = { set: result.set, delete: result.delete };
  const success = { ...facts, status: "success", changes } as const;
  if (node.type !== "decision") return { ...success, decision: null, next: defaultNext(task) };
  const edge = decide(result.set.find(({ key }) => key === "branch_decision")?.json, edges);
  const taken = "problem" in edge ? edge : takeEdge(task, edge, position.before.loops);
  if ("problem" in taken) return fail(taken.problem);
  const { label, to, loops } = taken;
  const more = loops && { more: { loops } };
  return { ...success, decision: label, next: nextNodeId(version, to), ...more };
}

/** Returns why NOVA must not store the values that a node sets; undefined if NOVA may store them. */
export function secretProblem(set: readonly Member[], io: NodeIo): string | undefined {
  const leaked = io.leakedSecret(set);
  if (leaked !== undefined)
    return `context["${leaked}"] contains the value of a secret input or credential - keep secrets out of what the node sets`;
  const changed = io.changedCredential(set);
  if (changed !== undefined)
    return `context["${changed}"] belongs to a credential, and the next node would find that again - set another key`;
  return undefined;
}

export type Decision = Edge | { problem: string };

/**
 * Finds the edge of a decision by the JSON text of its `branch_decision`. If no edge fits, returns a problem that lists
 * the edges.
 */
export function decide(json: string | undefined, edges: readonly Edge[]): Decision {
  if (json === undefined) {
    return {
      problem: `the decision did not set context["branch_decision"] - set it to one of ${listConditions(edges)}`,
    };
  }
  const value: unknown = JSON.parse(json);
  const truth = coercedBoolean(value, edges);
  const edge =
    edges.find(({ condition }) => isExactly(condition, json) && condition !== defaultLabel) ??
    edges.find(({ condition }) => truth !== undefined && booleanOf(condition) === truth) ??
    edges.find(({ condition }) => conditionLabel(condition) === defaultLabel);
  if (edge) return edge;
  const shown = json.length > 80 ? `${json.slice(0, 77)}...` : json;
  const advice = `it leads on for ${listConditions(edges)}; add an edge with "default" for the rest`;
  return { problem: `no edge for branch_decision ${shown} - ${advice}` };
}

/** Compares numbers by value, to the last digit: 1 equals 1.0. */
function isExactly(condition: Edge["condition"], json: string): boolean {
  return condition !== undefined && isSameJson(JSON.stringify(condition), json);
}

function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return undefined;
  const lower = value.toLowerCase();
  return lower === "true" ? true : lower === "false" ? false : undefined;
}

function coercedBoolean(value: unknown, edges: readonly Edge[]): boolean | undefined {
  const isBit = value === 0 || value === 1;
  if (isBit && !edges.some(({ condition }) => typeof condition === "number")) return value === 1;
  return booleanOf(value);
}

function listConditions(edges: readonly Edge[]): string {
  return edges.map(({ condition }) => JSON.stringify(condition ?? defaultLabel)).join(", ");
}

export function turnFacts({ attempt, sandbox, spare, addresses, failedDeliveries, times }: Turn) {
  return defined({ attempt, sandboxId: sandbox, spare, addresses, failedDeliveries, times });
}

export function warmAfter({ node, position }: Pick<Task, "node" | "position">, sandbox: Sandbox | null) {
  return node.isolation === "fresh" ? warmBefore(position) : sandbox;
}
