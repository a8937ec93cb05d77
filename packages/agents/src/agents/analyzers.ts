import type { JournalStep } from "@nova/engine";
import { z } from "zod";
import { done, ended, type Result } from "../failures/failure.ts";
import { dataRule, dataSection, pythonRule, WrittenCode, withoutFence } from "../prompts/prompt.ts";
import { runAnalysisCode } from "./analysis-code.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { Analysis, NodeRun } from "./node-run.ts";
import { contextForModel, contextForRecord, contextKeys, packagesOf } from "./show-context.ts";
import { type StepResult, takeStep } from "./step.ts";

const dataInstructions = `You write Python that looks at the data of a workflow step, so that code for its task can be written afterwards. \
The task itself is not done now.
${dataRule}
${pythonRule}
- Its first line is "# STAGE: ANALYSIS".
- The code sets a dict \`result\`: what whoever writes the code must know of form and content, such as type, size, pages, \
columns, encoding, labels found, one or two short excerpts. JSON values, under 4,000 characters in all.
- It only reads: nothing is sent, written or changed. It ends within 15 seconds.`;

/**
 * Lets a model write code that examines the data, and runs it. After a failure, the task's code is written without it.
 */
export async function analyzeData(run: NodeRun): Promise<Result<Analysis | null>> {
  const step = await takeStep(run, "DataAnalyzer", 1, async (journal) => {
    const input_data = inputData(run);
    const { prompt: task } = run.executor;
    const input = dataSection({ packages: packagesOf(run), task, context: contextForModel(run) });
    const asked = await askModel(run, {
      role: "data_analyzer",
      prompt: { instructions: dataInstructions, input },
      answer: { name: "data_analysis", schema: WrittenCode },
      maxOutputTokens: 6_000,
    });
    if ("refusal" in asked) return { ...asked.record, ...asked.refusal, input_data };
    return { ...asked.record, ...(await runAnalysis(run, journal, withoutFence(asked.value.code))), input_data };
  });
  return readAnalysis(run, step);
}

/** Runs analysis code that the code generator wrote on its own initiative. */
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

async function runAnalysis(run: NodeRun, journal: number, written: string): Promise<Omit<StepResult, "input_data">> {
  const { answer, code, ...facts } = await runAnalysisCode(run, journal, written);
  const common = { ...facts, generated_code: code };
  if ("result" in answer) return { ...common, status: "success", output_data: answer.result };
  const { error, traceback } = answer;
  return { ...common, status: "failed", output_data: null, error_message: error, traceback };
}

function readAnalysis(run: NodeRun, step: JournalStep): Result<Analysis | null> {
  run.sandboxId = step.sandbox_id ?? run.sandboxId;
  if (step.status === "success")
    return done({ json: JSON.stringify(step.output_data), code: step.generated_code ?? "" });
  if (step.output_data === null) return done(null);
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : done(null);
}

const InputAnalysis = z.object({ needs_analysis: z.boolean(), complexity: z.enum(["simple", "medium", "complex"]) });
export type InputAnalysis = z.infer<typeof InputAnalysis>;

const instructions = `You decide how one step of a business workflow is approached. Python code will be written for its task.
${dataRule}
needs_analysis: true only where a program has to look into the data before anybody could write that code: documents, \
files, mails, tables or large values whose inner form matters to the task and is not shown. False where names, types and \
samples say enough.
complexity: of the code to be written: "simple", "medium" or "complex".`;

/** Used if the model gives no usable answer, because the code may still succeed. */
const defaultAnalysis: InputAnalysis = { needs_analysis: false, complexity: "medium" };

/** Decides whether the data must be analysed before code is written, and how complex the task is. */
export async function analyzeInput(run: NodeRun): Promise<Result<InputAnalysis>> {
  const { prompt: task } = run.executor;
  const step = await takeStep(run, "InputAnalyzer", 1, async () => {
    const input_data = { task, context_keys: contextKeys(run), context: contextForRecord(run) };
    const asked = await askModel(run, {
      role: "input_analyzer",
      prompt: { instructions, input: dataSection({ task, context: contextForModel(run) }) },
      answer: { name: "input_analysis", schema: InputAnalysis },
      maxOutputTokens: 2_000,
    });
    if ("refusal" in asked) return { ...asked.record, ...asked.refusal, input_data };
    return { ...asked.record, status: "success", input_data, output_data: asked.value };
  });
  if (step.status === "success") return done(InputAnalysis.parse(step.output_data));
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : done(defaultAnalysis);
}
