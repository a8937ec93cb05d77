import { parseExact } from "@nova/workflow";
import { maskValue } from "../../json/text.ts";
import type { CodeResult } from "../../ports/sandboxes.ts";
import { secretProblem } from "../task/judge.ts";
import type { NodeIo } from "../task/run-io.ts";

/**
 * What code of a pipeline did, before a model, a step or a generation gets to see it. Code that sets a secret has failed;
 * what an analysis found is masked, since it is shown and never becomes the context's.
 */
export function confinedResult(raw: CodeResult, io: NodeIo, { isAnalysis }: { isAnalysis: boolean }): CodeResult {
  const result = io.withoutOverlay(raw);
  const logs = io.maskLogs(result.logs);
  if (result.status === "error") {
    return { ...result, logs, message: io.mask(result.message), traceback: io.mask(result.traceback) };
  }
  if (isAnalysis) return { ...result, logs, set: result.set.map((one) => maskedMember(one, io)) };
  const problem = secretProblem(result.set, io);
  if (problem === undefined) return { ...result, logs };
  const { durationMs } = result;
  return { status: "error", class: "NodeFailed", message: io.mask(problem), traceback: "", logs, durationMs };
}

function maskedMember({ key, json }: { key: string; json: string }, io: NodeIo) {
  const mask = (text: string) => io.mask(text);
  return { key: mask(key), json: mask(json) === json ? json : JSON.stringify(maskValue(parseExact(json), mask)) };
}
