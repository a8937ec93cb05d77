import { type PinnedCode, pinnedPlaces } from "@nova/engine";
import type { Failure } from "../failures/failure.ts";
import { analysisSeconds, look } from "./analysis-run.ts";
import { deedOf, execute, type RunEnd } from "./code-runner.ts";
import { maskValue } from "./mask-value.ts";
import type { Analysis, NodeRun } from "./node-run.ts";
import { contextForRecord } from "./show-context.ts";
import { takeStep } from "./step.ts";

/** Pinned code has a place of its own, and no step. */
export function runPinned(run: NodeRun, code: string): Promise<RunEnd> {
  return execute(run, pinnedPlaces.code, 0, code);
}

/** The analysis that was pinned with code runs anew, on the values of today: another place, and no step either. */
export async function runPinnedAnalysis(
  run: NodeRun,
  { analysis = "" }: PinnedCode,
): Promise<Analysis | { failure: Failure; fault: "code" }> {
  const { sandbox_id, logs, answer } = await look(run, pinnedPlaces.analysis, analysis);
  run.sandboxId = sandbox_id;
  const mask = (text: string) => run.task.mask(text);
  if ("result" in answer) return { code: analysis, json: JSON.stringify(maskValue(answer.result, mask)) };
  const failure: Failure = {
    attempt: 0,
    error: `the analysis failed: ${mask(answer.error)}`,
    code: analysis,
    class: answer.class,
    ...(answer.traceback && { traceback: mask(answer.traceback) }),
    ...(logs && { logs: mask(logs) }),
  };
  // Whatever it says of servers: it could reach none, and was not to.
  return { failure, fault: "code" };
}

/** The step of pinned code that failed, in front of what is done about it. */
export async function recordPinned(run: NodeRun, failure: Failure): Promise<void> {
  const { timeoutSeconds } = run.task.node;
  await takeStep(run, "E2BExecutor", 0, async () => ({
    ...deedOf(run, { failure, fault: "code" }),
    input_data: { context: contextForRecord(run), timeout_seconds: timeoutSeconds },
    generated_code: failure.code,
    sandbox_id: run.sandboxId,
  }));
}

/** The same of its analysis, behind which the code itself did not run. */
export async function recordPinnedAnalysis(run: NodeRun, failure: Failure): Promise<void> {
  await takeStep(run, "DataAnalyzer", 0, async () => ({
    ...deedOf(run, { failure, fault: "code" }),
    input_data: { context: contextForRecord(run), timeout_seconds: analysisSeconds },
    output_data: null,
    generated_code: failure.code,
    sandbox_id: run.sandboxId,
  }));
}
