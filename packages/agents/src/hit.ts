import type { PinnedCode, PipelineOutcome } from "@nova/engine";
import { endingOf, recordPinned, runPinned } from "./agents/code-runner.ts";
import type { NodeRun } from "./agents/node-run.ts";
import { flawOf } from "./agents/output-validator.ts";

/**
 * Runs pinned code, judged without a model. Null where it failed by its own fault and other code may be written: then
 * the failure is recorded, and the first that is known of the task.
 */
export async function runHit(run: NodeRun, { code, generation }: PinnedCode): Promise<PipelineOutcome | null> {
  const common = { code, cacheHit: true, generation };
  run.code = code;
  const end = await runPinned(run, code);
  const flaw = "result" in end ? flawOf(end.result) : null;
  if ("result" in end && flaw === null) {
    return { ...common, status: "success", result: end.result, sandboxId: end.sandboxId };
  }
  const { failure, fault } = "result" in end ? { failure: unchanged(code, flaw), fault: "code" } : end;
  if (fault === "world" || !mayWrite(run) || run.task.node.effects === true) {
    return { ...common, status: "failed", ...endingOf(failure), sandboxId: run.sandboxId };
  }
  await recordPinned(run, failure);
  run.failures.push(failure);
  return null;
}

function unchanged(code: string, flaw: string | null) {
  return { attempt: 0, error: flaw ?? "", code, class: "NodeFailed" } as const;
}

/** Whether a model may be asked for code: not in frozen runs, nor where only approved code runs. */
export function mayWrite({ task }: Pick<NodeRun, "task">): boolean {
  return !task.frozen && task.version.workflow.approval !== "required";
}
