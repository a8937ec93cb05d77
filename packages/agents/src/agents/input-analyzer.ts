import { z } from "zod";
import { done, ended, type Result } from "../failures/failure.ts";
import { dataRule, dataSection } from "../prompts/prompt.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { NodeRun } from "./node-run.ts";
import { contextForModel, contextForRecord, contextKeys } from "./show-context.ts";
import { takeStep } from "./step.ts";

const InputAnalysis = z.object({
  needs_analysis: z.boolean(),
  complexity: z.enum(["simple", "medium", "complex"]),
});
export type InputAnalysis = z.infer<typeof InputAnalysis>;

const instructions = `You decide how one step of a business workflow is approached. Python code will be written for its task.
${dataRule}
needs_analysis: true only where a program has to look into the data before anybody could write that code: documents, \
files, mails, tables or large values whose inner form matters to the task and is not shown. False where names, types and \
samples say enough.
complexity: of the code to be written: "simple", "medium" or "complex".`;

const maxOutputTokens = 2_000;
/** Taken where the model gave no usable answer: the code may still come out right. */
const unknown: InputAnalysis = { needs_analysis: false, complexity: "medium" };

/** Must the data be understood before code can be written; how hard is it. */
export async function analyzeInput(run: NodeRun): Promise<Result<InputAnalysis>> {
  const { prompt: task } = run.executor;
  const step = await takeStep(run, "InputAnalyzer", 1, async () => {
    const input_data = { task, context_keys: contextKeys(run), context: contextForRecord(run) };
    const asked = await askModel(run, {
      role: "input_analyzer",
      prompt: { instructions, input: dataSection({ task, context: contextForModel(run) }) },
      answer: { name: "input_analysis", schema: InputAnalysis },
      maxOutputTokens,
    });
    if ("refusal" in asked) return { ...asked.told, ...asked.refusal, input_data };
    return { ...asked.told, status: "success", input_data, output_data: asked.value };
  });
  if (step.status === "success") return done(InputAnalysis.parse(step.output_data));
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : done(unknown);
}
