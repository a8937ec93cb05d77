import type { InvokeLambda, LambdaResult } from "@nova/aws-local";
import { itemsOf } from "@nova/engine";
import type { NodeEvent, Progress } from "./progress.ts";

/** The functions that run nodes, and that request an outcome from people. */
const nodeFunctions = ["nova-run-node", "nova-request-approval"];

/** Reports progress from the invocations of functions: every node passes through one. */
export function withProgress(invoke: InvokeLambda, progress: Progress): InvokeLambda {
  return async (functionArn, payload, signal) => {
    const place = nodeFunctions.some((name) => functionArn.includes(name)) ? placeOf(payload) : null;
    if (!place) return invoke(functionArn, payload, signal);
    const { execution, isNew, ...node } = place;
    if (isNew) progress.note(execution, { ...node, state: "started" });
    const result = await invoke(functionArn, payload, signal);
    const outcome = result.ok ? outcomeIn(result.payload) : failureIn(result);
    if (outcome) progress.note(execution, { ...node, ...outcome });
    return result;
  };
}

function failureIn({ errorType, errorMessage }: LambdaResult & { ok: false }): Outcome {
  return errorType === "NodeRetry" ? { state: "retrying", message: errorMessage } : { state: "failed" };
}

function placeOf(payload: string) {
  const { execution, scope = "", node, waited } = JSON.parse(payload) as Asked;
  return execution?.id && node ? { execution: execution.id, node, isNew: waited !== true, ...itemsOf(scope) } : null;
}

/**
 * The state of a node after one invocation. A request returns its task, a wait its time, a workflow node its child: the
 * node waits. Null for code that continues in the next invocation.
 */
function outcomeIn(payload: string): Outcome | null {
  const answer = JSON.parse(payload) as Answered & RunningOn;
  if (answer.running) return answer.retry === undefined ? null : { state: "retrying", message: answer.retry };
  if (answer.task || answer.until || answer.child) return { state: "waiting" };
  const reused = answer.summary?.reused && { message: "reused" };
  return { state: "succeeded", ...(answer.count !== undefined && { count: answer.count }), ...reused };
}

type Outcome = Pick<NodeEvent, "state" | "message" | "count">;
type Asked = { execution?: { id?: string }; scope?: string; node?: string; waited?: boolean };
type Answered = {
  task?: string | null;
  until?: string;
  child?: object;
  count?: number;
  summary?: { reused?: true };
};
type RunningOn = { running?: true; retry?: string };
