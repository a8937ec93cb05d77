import { done, ended, type Result } from "../failures/failure.ts";
import { InputAnalysis, inputAnalyzerPrompt } from "../prompts/input-analyzer.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { NodeRun } from "./node-run.ts";
import { contextForModel, contextForRecord, contextKeys } from "./show-context.ts";
import { takeStep } from "./step.ts";

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
      prompt: inputAnalyzerPrompt(task, contextForModel(run)),
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
