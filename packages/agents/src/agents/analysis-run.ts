import type { CodeResult } from "@nova/engine";
import type { RunErrorClass } from "@nova/workflow";
import { z } from "zod";
import { analysisKey } from "../two-stages.ts";
import { analysisIn, analysisProgram } from "./analysis-code.ts";
import type { NodeRun } from "./node-run.ts";

export const analysisSeconds = 15;

/** What came of an analysis: its result, or why there is none. */
export type AnalysisAnswer = { result: unknown } | { error: string; traceback: string; class: RunErrorClass };

const Answer = z.union([
  z.object({ result: z.unknown() }),
  z
    .object({ error: z.string(), traceback: z.string().default("") })
    .transform((failure) => ({ ...failure, class: "NodeFailed" as const })),
]);

/** What the program of an analysis left under its key; whatever else it changed is not looked at. */
export function analysisAnswer(result: CodeResult): AnalysisAnswer {
  if (result.status === "error") {
    return { error: result.message, traceback: result.traceback, class: result.class };
  }
  const json = result.set.find(({ key }) => key === analysisKey)?.json;
  if (json === undefined) return { error: "the analysis left no answer", traceback: "", class: "NodeFailed" };
  return Answer.parse(JSON.parse(json));
}

/** Runs analysis code in the node's sandbox, from where it reaches nothing. `code` is the one that ran. */
export async function look(
  { means }: Pick<NodeRun, "means">,
  place: number,
  written: string,
): Promise<{ sandbox_id: string; code: string; logs: string; answer: AnalysisAnswer }> {
  const limits = { timeoutSeconds: analysisSeconds, network: false } as const;
  const { sandboxId, result, code } = await means.execute(place, analysisProgram(written), limits);
  return {
    sandbox_id: sandboxId,
    code: analysisIn(code) ?? written,
    logs: result.logs,
    answer: analysisAnswer(result),
  };
}
