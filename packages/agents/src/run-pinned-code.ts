import { maskValue, type PinnedCode, type PipelineOutcome, pinnedPlaces } from "@nova/engine";
import { analysisSeconds, runAnalysisCode } from "./agents/analysis-code.ts";
import { type ExecutionEnd, executeAndJudge, stepResultOf } from "./agents/code-runner.ts";
import type { Analysis, NodeRun } from "./agents/node-run.ts";
import { flawOf } from "./agents/output-validator.ts";
import { contextForRecord } from "./agents/show-context.ts";
import { takeStep } from "./agents/step.ts";
import { endingOf, type Failure, tracesOf } from "./failures/failure.ts";

/**
 * Runs pinned code, after its analysis if it has one, and judges it without a model. Returns null if code or analysis
 * failed by its own fault and new code may be written. The failure is then recorded, and is the first one that the code
 * generator sees.
 */
export async function runPinnedCode(run: NodeRun, pinned: PinnedCode): Promise<PipelineOutcome | null> {
  const { code, generation } = pinned;
  run.code = code;
  const end = await runAnalysisAndCode(run, pinned);
  const analysis = pinned.analysis !== undefined && { code: pinned.analysis, json: run.analysis?.json ?? null };
  const common = { code, cacheHit: true, generation, ...(analysis && { analysis }) };
  run.analysis = null;
  const flaw = "result" in end ? flawOf(end.result) : null;
  if ("result" in end && flaw === null) {
    return { ...common, status: "success", result: end.result, sandboxId: end.sandboxId };
  }
  const unchanged = { attempt: 0, message: flaw ?? "", code, class: "NodeFailed" } as const;
  const { failure, fault } = "result" in end ? { failure: unchanged, fault: "code" } : end;
  if (fault === "world" || !canWriteCode(run) || run.task.node.effects === true) {
    return { ...common, status: "failed", ...endingOf(failure), sandboxId: run.sandboxId };
  }
  await recordPinnedFailure(run, failure, analysis !== false && analysis.json === null);
  run.failures.push(failure);
  return null;
}

async function runAnalysisAndCode(run: NodeRun, pinned: PinnedCode): Promise<ExecutionEnd> {
  if (pinned.analysis !== undefined) {
    const found = await runPinnedAnalysis(run, pinned);
    if ("failure" in found) return found;
    run.analysis = found;
  }
  // Pinned code has its own journal number and no step.
  return executeAndJudge(run, pinnedPlaces.code, 0, pinned.code);
}

/** False in frozen runs, and in workflows that only run approved code. */
export function canWriteCode({ task }: Pick<NodeRun, "task">): boolean {
  return !task.frozen && task.version.workflow.approval !== "required";
}

/** Runs the pinned analysis on the current values. It has its own journal number and no step. */
async function runPinnedAnalysis(
  run: NodeRun,
  { analysis = "" }: PinnedCode,
): Promise<Analysis | { failure: Failure; fault: "code" }> {
  const { sandbox_id, logs, answer } = await runAnalysisCode(run, pinnedPlaces.analysis, analysis);
  run.sandboxId = sandbox_id;
  const mask = (text: string) => run.task.mask(text);
  if ("result" in answer) return { code: analysis, json: JSON.stringify(maskValue(answer.result, mask)) };
  const traces = tracesOf({ traceback: mask(answer.traceback), logs: mask(logs) });
  const message = `the analysis failed: ${mask(answer.error)}`;
  const failure = { attempt: 0, message, code: analysis, class: answer.class, ...traces };
  // An analysis has no network, so no failure of it is external.
  return { failure, fault: "code" };
}

/** Records the failed step of pinned code or of its analysis, before other code is written. */
async function recordPinnedFailure(run: NodeRun, failure: Failure, isAnalysis: boolean): Promise<void> {
  const timeout_seconds = isAnalysis ? analysisSeconds : run.task.node.timeoutSeconds;
  await takeStep(run, isAnalysis ? "DataAnalyzer" : "E2BExecutor", 0, async () => ({
    ...stepResultOf(run, { failure, fault: "code" }),
    input_data: { context: contextForRecord(run), timeout_seconds },
    ...(isAnalysis && { output_data: null }),
    generated_code: failure.code,
    sandbox_id: run.sandboxId,
  }));
}
