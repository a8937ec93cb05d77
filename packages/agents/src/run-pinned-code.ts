import { maskValue, type PinnedCode, type PipelineOutcome, pinnedPlaces } from "@nova/engine";
import { analysisSeconds, runAnalysisCode } from "./agents/analysis-code.ts";
import { type ExecutionEnd, executeAndJudge, stepResultOf } from "./agents/code-runner.ts";
import type { Analysis, NodeRun } from "./agents/node-run.ts";
import { flawOf } from "./agents/output-validator.ts";
import { contextForRecord } from "./agents/show-context.ts";
import { takeStep } from "./agents/step.ts";
import { endingOf, type Failure, tracesOf } from "./failures/failure.ts";

/**
 * Runs pinned code, judged without a model; where it was written with an analysis, behind that. Null where one of the two
 * failed by its own fault and other code may be written: then the failure is recorded, and the first that is known of
 * the task.
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
  // Pinned code has a place of its own, and no step.
  return executeAndJudge(run, pinnedPlaces.code, 0, pinned.code);
}

/** Whether a model may be asked for code: not in frozen runs, nor where only approved code runs. */
export function canWriteCode({ task }: Pick<NodeRun, "task">): boolean {
  return !task.frozen && task.version.workflow.approval !== "required";
}

/** The analysis that was pinned with code runs anew, on the values of today: another place, and no step either. */
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
  // Whatever it says of servers: it could reach none, and was not to.
  return { failure, fault: "code" };
}

/**
 * The step of pinned code that failed, in front of what is done about it; or of its analysis, behind which the code itself
 * did not run.
 */
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
