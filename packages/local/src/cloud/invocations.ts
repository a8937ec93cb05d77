import type { InvokeLambda } from "../lambda-types.ts";
import type { Progress } from "./progress.ts";

/** Lets progress be seen where every node passes: the invocation of the function that runs it. */
export function withProgress(invoke: InvokeLambda, progress: Progress): InvokeLambda {
  return async (functionArn, payload, signal) => {
    const place = functionArn.includes("nova-run-node") ? placeOf(payload) : null;
    if (!place) return invoke(functionArn, payload, signal);
    const { execution, node } = place;
    progress.note(execution, { node, state: "started" });
    const result = await invoke(functionArn, payload, signal);
    progress.note(execution, { node, state: result.ok ? "succeeded" : "failed" });
    return result;
  };
}

function placeOf(payload: string): { execution: string; node: string } | null {
  const { execution, node } = JSON.parse(payload) as { execution?: { id?: string }; node?: string };
  return execution?.id && node ? { execution: execution.id, node } : null;
}
