import type { InvokeLambda, LambdaResult } from "../lambda-types.ts";
import type { NodeEvent, Progress } from "./progress.ts";

/** What runs nodes, and what asks others for their outcome. */
const nodeFunctions = ["nova-run-node", "nova-request-approval"];

/** Lets progress be seen where every node passes: the invocation of the function that runs it. */
export function withProgress(invoke: InvokeLambda, progress: Progress): InvokeLambda {
  return async (functionArn, payload, signal) => {
    const place = nodeFunctions.some((name) => functionArn.includes(name)) ? placeOf(payload) : null;
    if (!place) return invoke(functionArn, payload, signal);
    const { execution, isNew, ...node } = place;
    if (isNew) progress.note(execution, { ...node, state: "started" });
    const result = await invoke(functionArn, payload, signal);
    progress.note(execution, { ...node, ...(result.ok ? { state: stateAfter(result.payload) } : failureIn(result)) });
    return result;
  };
}

function failureIn({ errorType, errorMessage }: LambdaResult & { ok: false }): Pick<NodeEvent, "state" | "message"> {
  return errorType === "NodeRetry" ? { state: "retrying", message: errorMessage } : { state: "failed" };
}

interface Place extends Pick<NodeEvent, "node" | "items"> {
  execution: string;
  isNew: boolean;
}

function placeOf(payload: string): Place | null {
  const {
    execution,
    scope = "",
    node,
    waited,
  } = JSON.parse(payload) as {
    execution?: { id?: string };
    scope?: string;
    node?: string;
    waited?: boolean;
  };
  const items = itemsIn(scope);
  return execution?.id && node
    ? { execution: execution.id, node, isNew: waited !== true, ...(items.length > 0 && { items }) }
    : null;
}

/** A part of a scope ends in the first node of a branch or, in digits, the number of an item. */
function itemsIn(scope: string): number[] {
  return Array.from(scope.matchAll(/\.(\d+)(?=\/|$)/g), ([, number]) => Number(number));
}

/**
 * A request answers the task that it made, the first task of a wait until when, that of a workflow node what it waits
 * for; else the node has its outcome.
 */
function stateAfter(payload: string): "waiting" | "succeeded" {
  const { task, until, child } = JSON.parse(payload) as { task?: string | null; until?: string; child?: object };
  return task || until || child ? "waiting" : "succeeded";
}
