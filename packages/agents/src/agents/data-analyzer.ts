import type { JournalStep } from "@nova/engine";
import { done, ended, type Result } from "../failures/failure.ts";
import { WrittenCode } from "../prompts/code-generator.ts";
import { dataRule, dataSection, pythonRule, withoutFence } from "../prompts/prompt.ts";
import { look } from "./analysis-code.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { Analysis, NodeRun } from "./node-run.ts";
import { contextForModel, contextForRecord, contextKeys, packagesOf } from "./show-context.ts";
import { type Deed, takeStep } from "./step.ts";

const instructions = `You write Python that looks at the data of a workflow step, so that code for its task can be written afterwards. \
The task itself is not done now.
${dataRule}
${pythonRule}
- The code sets a dict \`result\`: what whoever writes the code must know of form and content, such as type, size, pages, \
columns, encoding, labels found, one or two short excerpts. JSON values, under 4,000 characters in all.
- It only reads: nothing is sent, written or changed. It ends within 15 seconds.`;

const maxOutputTokens = 6_000;

/** Has code written that looks at the data, and runs it. Where that fails, the task's code is written without. */
export async function analyzeData(run: NodeRun): Promise<Result<Analysis | null>> {
  const step = await takeStep(run, "DataAnalyzer", 1, async (journal) => {
    const input_data = inputData(run);
    const { prompt: task } = run.executor;
    const input = dataSection({ packages: packagesOf(run), task, context: contextForModel(run) });
    const asked = await askModel(run, {
      role: "data_analyzer",
      prompt: { instructions, input },
      answer: { name: "data_analysis", schema: WrittenCode },
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
