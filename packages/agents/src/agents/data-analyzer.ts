import type { JournalStep } from "@nova/engine";
import { done, ended, type Result } from "../failures/failure.ts";
import { dataAnalyzerPrompt, WrittenAnalysis } from "../prompts/data-analyzer.ts";
import { withoutFence } from "../prompts/prompt.ts";
import { look } from "./analysis-code.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { Analysis, NodeRun } from "./node-run.ts";
import { contextForModel, contextForRecord, contextKeys, packagesOf } from "./show-context.ts";
import { type Deed, takeStep } from "./step.ts";

const maxOutputTokens = 6_000;

/** Has code written that looks at the data, and runs it. Where that fails, the task's code is written without. */
export async function analyzeData(run: NodeRun): Promise<Result<Analysis | null>> {
  const step = await takeStep(run, "DataAnalyzer", 1, async (journal) => {
    const input_data = inputData(run);
    const asked = await askModel(run, {
      role: "data_analyzer",
      prompt: dataAnalyzerPrompt(run.executor.prompt, contextForModel(run), packagesOf(run)),
      answer: { name: "data_analysis", schema: WrittenAnalysis },
      maxOutputTokens,
    });
    if ("refusal" in asked) return { ...asked.told, ...asked.refusal, input_data };
    return { ...asked.told, ...(await runAnalysis(run, journal, withoutFence(asked.value.code))), input_data };
  });
  return readAnalysis(run, step);
}

/** Runs analysis code that the code generator wrote of its own accord. */
export async function followAnalysis(run: NodeRun, attempt: number, code: string): Promise<Result<Analysis | null>> {
  const step = await takeStep(run, "DataAnalyzer", attempt, async (journal) => ({
    ...(await runAnalysis(run, journal, code)),
    input_data: inputData(run),
  }));
  return readAnalysis(run, step);
}

function inputData(run: NodeRun): Record<string, unknown> {
  return { context_keys: contextKeys(run), hint: run.executor.prompt, context: contextForRecord(run) };
}

async function runAnalysis(run: NodeRun, journal: number, written: string): Promise<Omit<Deed, "input_data">> {
  const { answer, code, ...facts } = await look(run, journal, written);
  const common = { ...facts, generated_code: code };
  if ("result" in answer) return { ...common, status: "success", output_data: answer.result };
  const { error, traceback } = answer;
  return { ...common, status: "failed", output_data: null, error_message: error, traceback };
}

function readAnalysis(run: NodeRun, step: JournalStep): Result<Analysis | null> {
  run.sandboxId = step.sandbox_id ?? run.sandboxId;
  if (step.status === "success") {
    return done({ json: JSON.stringify(step.output_data), code: step.generated_code ?? "" });
  }
  if (step.output_data === null) return done(null);
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : done(null);
}
