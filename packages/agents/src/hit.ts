import type { PinnedCode, PipelineOutcome } from "@nova/engine";
import { endingOf, type RunEnd } from "./agents/code-runner.ts";
import type { NodeRun } from "./agents/node-run.ts";
import { flawOf } from "./agents/output-validator.ts";
import { recordPinned, recordPinnedAnalysis, runPinned, runPinnedAnalysis } from "./agents/pinned-code.ts";

/**
 * Runs pinned code, judged without a model; where it was written with an analysis, behind that. Null where one of the two
 * failed by its own fault and other code may be written: then the failure is recorded, and the first that is known of
 * the task.
 */
export async function runHit(run: NodeRun, pinned: PinnedCode): Promise<PipelineOutcome | null> {
  const { code, generation } = pinned;
  run.code = code;
  const end = await runBoth(run, pinned);
  const analysis = pinned.analysis !== undefined && { code: pinned.analysis, json: run.analysis?.json ?? null };
  const common = { code, cacheHit: true, generation, ...(analysis && { analysis }) };
  run.analysis = null;
  const flaw = "result" in end ? flawOf(end.result) : null;
  if ("result" in end && flaw === null) {
    return { ...common, status: "success", result: end.result, sandboxId: end.sandboxId };
  }
  const { failure, fault } = "result" in end ? { failure: unchanged(code, flaw), fault: "code" } : end;
  if (fault === "world" || !mayWrite(run) || run.task.node.effects === true) {
    return { ...common, status: "failed", ...endingOf(failure), sandboxId: run.sandboxId };
  }
  await (analysis && analysis.json === null ? recordPinnedAnalysis : recordPinned)(run, failure);
  run.failures.push(failure);
  return null;
}

async function runBoth(run: NodeRun, pinned: PinnedCode): Promise<RunEnd> {
  if (pinned.analysis === undefined) return runPinned(run, pinned.code);
  const found = await runPinnedAnalysis(run, pinned);
  if ("failure" in found) return found;
  run.analysis = found;
  return runPinned(run, pinned.code);
}

function unchanged(code: string, flaw: string | null) {
  return { attempt: 0, error: flaw ?? "", code, class: "NodeFailed" } as const;
}

/** Whether a model may be asked for code: not in frozen runs, nor where only approved code runs. */
export function mayWrite({ task }: Pick<NodeRun, "task">): boolean {
  return !task.frozen && task.version.workflow.approval !== "required";
}
