import { z } from "zod";
import { done, ended, failed, type Result } from "../failures/failure.ts";
import type { Guide } from "../knowledge/guides/choose-guides.ts";
import type { Tool } from "../model/models.ts";
import { type CodeRequest, codeGeneratorPrompt, WrittenCode } from "../prompts/code-generator.ts";
import { quoted, stageOf, withoutFence } from "../prompts/prompt.ts";
import { withoutTexts } from "../schema/summary.ts";
import { followAnalysis } from "./analyzers.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { Analysis, NodeRun } from "./node-run.ts";
import { recallExamples, withSpent } from "./recall.ts";
import { contextForModel, contextForRecord, edgeValues, packagesOf } from "./show-context.ts";
import { takeStep } from "./step.ts";

const maxSearches = 4;

export interface Written {
  code: string;
  model: string;
  guides: readonly Guide[];
}

/** Code for the task. A model that wants to look at the data first may, once: then it is asked again. */
export async function generateCode(run: NodeRun, attempt: number): Promise<Result<Written>> {
  const first = await writeCode(run, attempt);
  if (first.kind !== "done" || stageOf(first.value.code) === "task") return first;
  if (run.hasFollowedAnalysis) return failed(secondAnalysis(attempt, first.value.code));
  run.hasFollowedAnalysis = true;
  const analysis = await followAnalysis(run, attempt, first.value.code);
  if (analysis.kind !== "done") return analysis;
  run.analysis = analysis.value ?? run.analysis;
  const second = await writeCode(run, attempt);
  if (second.kind !== "done" || stageOf(second.value.code) === "task") return second;
  return failed(secondAnalysis(attempt, second.value.code));
}

function secondAnalysis(attempt: number, code: string) {
  const message = "this analyses the data once more - write the code of the task, marked # STAGE: TASK";
  return { attempt, message, code, class: "NodeFailed" } as const;
}

async function writeCode(run: NodeRun, attempt: number): Promise<Result<Written>> {
  const { knowledge } = run.parts;
  const guides = knowledge.guidesFor({
    task: run.executor.prompt,
    schema: run.shape,
    errors: run.failures.map(({ message }) => message),
  });
  const step = await takeStep(run, "CodeGenerator", attempt, async () => {
    const recall = await recallExamples(run, attempt);
    const request = requestOf(run, guides, recall.examples);
    const input_data = { ...inputData(run, request), ...recall.record };
    if (recall.refusal) return { ...recall.refusal, input_data };
    const asked = await askModel(run, {
      role: "code_generator",
      prompt: codeGeneratorPrompt(request),
      answer: { name: "code", schema: WrittenCode },
      tools: [searchTool(run)],
      maxToolCalls: maxSearches,
      alreadyUsd: recall.spent.usd,
    });
    const told = withSpent(asked.told, recall);
    if ("refusal" in asked) return { ...told, ...asked.refusal, input_data };
    const code = withoutFence(asked.value.code);
    const output_data = { code_length: code.length, stage: stageOf(code) };
    return { ...told, status: "success", generated_code: code, input_data, output_data };
  });
  if (step.status === "success" && step.generated_code !== null) {
    return done({ code: step.generated_code, model: step.model_used ?? "", guides });
  }
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : failed({ attempt, code: null, ...ending });
}

function requestOf(run: NodeRun, guides: readonly Guide[], examples: CodeRequest["examples"]): CodeRequest {
  const { task, executor, analysis, failures } = run;
  return {
    nodeType: task.node.type,
    guides,
    packages: packagesOf(run),
    modules: Object.keys(task.version.workflow.lib).map(moduleName),
    network: executor.allow,
    timeoutSeconds: task.node.timeoutSeconds,
    task: executor.prompt,
    edges: edgeValues(run),
    context: contextForModel(run),
    analysis: analysis === null ? undefined : analysisForModel(analysis, executor.samples),
    examples,
    failures,
  };
}

function analysisForModel({ json, code }: Analysis, samples: boolean): unknown {
  const found: unknown = JSON.parse(json);
  return samples ? found : withoutTexts(found, code);
}

/** `money/dates.py` is imported as `money.dates`. */
function moduleName(path: string): string {
  return path.replace(/(\/__init__)?\.py$/, "").replaceAll("/", ".");
}

function inputData(run: NodeRun, { guides, examples, edges }: CodeRequest): Record<string, unknown> {
  const { executor, failures, analysis } = run;
  return {
    task: executor.prompt,
    node_type: run.task.node.type,
    context: contextForRecord(run),
    ...(edges && { edges }),
    ...(analysis && { data_insights: JSON.parse(analysis.json) }),
    guides: guides.map(({ name }) => name),
    ...(examples && examples.length > 0 && { examples: examples.map(({ task }) => task) }),
    error_history: failures.map(({ attempt, message }) => ({ attempt, error: message.slice(0, 2_000) })),
  };
}

const Search = z.object({
  library: z.string().describe("import name, such as fitz"),
  query: z.string().describe("what is looked for"),
});

function searchTool({ parts, task }: NodeRun): Tool {
  const tool: Tool<z.infer<typeof Search>> = {
    name: "search_documentation",
    description: "Documentation of a Python library that the code can import, in the version that it will run with.",
    parameters: Search,
    async run({ library, query }) {
      const { text, found } = parts.knowledge.searchDocumentation(library, query, task.version.template);
      return { text: quoted({ documentation: text }), found };
    },
  };
  return tool as unknown as Tool;
}
