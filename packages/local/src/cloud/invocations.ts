import type { InvokeLambda } from "../lambda-types.ts";
import type { Progress } from "./progress.ts";

/** What runs nodes, and what asks others for their outcome. */
const nodeFunctions = ["nova-run-node", "nova-request-approval"];

/** Lets progress be seen where every node passes: the invocation of the function that runs it. */
export function withProgress(invoke: InvokeLambda, progress: Progress): InvokeLambda {
  return async (functionArn, payload, signal) => {
    const place = nodeFunctions.some((name) => functionArn.includes(name)) ? placeOf(payload) : null;
    if (!place) return invoke(functionArn, payload, signal);
    const { execution, node, isNew } = place;
    if (isNew) progress.note(execution, { node, state: "started" });
    const result = await invoke(functionArn, payload, signal);
    progress.note(execution, { node, state: result.ok ? stateAfter(result.payload) : "failed" });
    return result;
  };
}

function placeOf(payload: string): { execution: string; node: string; isNew: boolean } | null {
  const { execution, node, waited } = JSON.parse(payload) as {
    execution?: { id?: string };
    node?: string;
    waited?: boolean;
  };
  return execution?.id && node ? { execution: execution.id, node, isNew: waited !== true } : null;
}

/** A request answers the task that it made, the first task of a wait until when, that of a workflow node what it waits for; else the node has its outcome. */
function stateAfter(payload: string): "waiting" | "succeeded" {
  const { task, until, child } = JSON.parse(payload) as { task?: string | null; until?: string; child?: object };
  return task || until || child ? "waiting" : "succeeded";
}
