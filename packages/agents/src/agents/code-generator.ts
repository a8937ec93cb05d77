import { defined } from "@nova/workflow";
import { z } from "zod";
import { done, ended, type Failure, failed, type Result } from "../failures/failure.ts";
import type { Guide } from "../knowledge/guides.ts";
import type { Tool } from "../model/models.ts";
import type { Example } from "../precedents/closest-examples.ts";
import {
  dataRule,
  dataSection,
  type Prompt,
  pythonRule,
  quoteForPrompt,
  stageOf,
  WrittenCode,
  withoutFence,
} from "../prompts/prompt.ts";
import { hideTexts } from "../schema/summary.ts";
import { analysisSeconds, followAnalysis } from "./analyzers.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import type { Analysis, NodeRun } from "./node-run.ts";
import { contextForModel, contextForRecord, edgeValues, packagesOf, takeStep } from "./node-run.ts";
import { addRecallCost, recallExamples } from "./recall.ts";

const intro = `You write the Python code of one step of a business workflow.
${dataRule}
${pythonRule}
- The code is kept and runs again on other values of the same form: read values from \`context\`, never copy them.
- Set results as context["key"] = value: text, numbers, True/False, None, lists, dicts with text keys, bytes. Convert all \
else (str(x), float(x), x.isoformat()). Keep keys that the task does not speak of as they are.
- Never invent results, hosts or credentials. What cannot be done raises an error that says why; errors of servers and \
networks are not caught.`;

const contracts = {
  action: "- The code must set at least one key that tells the result of the task.",
  decision: `- This step decides: set context["branch_decision"] to exactly one of \`edges\`; "default" stands for anything else.`,
};

const network = "- It can connect to what `network` lists and to nothing else; without `network`, to nothing.";

const search = "- Unsure of a library? Call search_documentation before you answer.";

const analysisRule =
  "- `analysis` is what a program found in this step's present values: use it to understand, and read what the task needs " +
  'from the values themselves. If the code reads context["_data_analysis"], that program runs before it every time.';

const stageRule = `- Mark the code: its first line is "# STAGE: TASK". If this step has complex data (documents, files, mails, large values) \
that you must understand first, answer once with code whose first line is "# STAGE: ANALYSIS" instead: it only reads, sets \
a dict \`result\` with type, form and what the task needs, and ends within ${analysisSeconds} s. You are asked again with its result.`;

const taskRule = '- Mark the code: its first line is "# STAGE: TASK".';

const exampleRule = "- `examples` is code that did tasks like this one: use what fits, and nothing of it unseen.";

const failureRule =
  "- `failures` are earlier attempts, oldest first, with what was wrong. Find the cause, and write code that repeats none.";

const maxSearches = 4;

export interface GeneratedCode {
  code: string;
  model: string;
  guides: readonly Guide[];
}

/**
 * Lets a model write the task's code. The model may first answer with analysis code, once. It is then asked again with
 * the result of the analysis.
 */
export async function generateCode(run: NodeRun, attempt: number): Promise<Result<GeneratedCode>> {
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

async function writeCode(run: NodeRun, attempt: number): Promise<Result<GeneratedCode>> {
  const { knowledge } = run.parts;
  const errors = run.failures.map(({ message }) => message);
  const guides = knowledge.guidesFor({ task: run.executor.prompt, schema: run.shape, errors });
  const step = await takeStep(run, "CodeGenerator", attempt, async () => {
    const recall = await recallExamples(run, attempt);
    const { examples = [] } = recall;
    const input_data = { ...inputData(run, guides, examples), ...recall.record };
    if (recall.refusal) return { ...recall.refusal, input_data };
    const asked = await askModel(run, {
      role: "code_generator",
      prompt: promptFor(run, guides, examples),
      answer: { name: "code", schema: WrittenCode },
      tools: [searchTool(run)],
      maxToolCalls: maxSearches,
      alreadyUsd: recall.spent.usd,
    });
    const callRecord = addRecallCost(asked.record, recall);
    if ("refusal" in asked) return { ...callRecord, ...asked.refusal, input_data };
    const code = withoutFence(asked.value.code);
    const output_data = { code_length: code.length, stage: stageOf(code) };
    return { ...callRecord, status: "success", generated_code: code, input_data, output_data };
  });
  if (step.status === "success" && step.generated_code !== null)
    return done({ code: step.generated_code, model: step.model_used ?? "", guides });
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : failed({ attempt, code: null, ...ending });
}

/** Builds the prompt: the rules for this node, its guides, and the data of this run. */
function promptFor(run: NodeRun, guides: readonly Guide[], examples: readonly Example[]): Prompt {
  const { task, executor, analysis, failures } = run;
  const isAnalysed = analysis !== null || run.hasFollowedAnalysis;
  const rules = [
    intro,
    network,
    contracts[task.node.type === "decision" ? "decision" : "action"],
    isAnalysed ? taskRule : stageRule,
    search,
  ];
  if (analysis) rules.push(analysisRule);
  if (examples.length > 0) rules.push(exampleRule);
  if (failures.length > 0) rules.push(failureRule);
  const instructions = [rules.join("\n"), ...guides.map(({ name, text }) => `# ${name}\n${text.trim()}`)];
  const input = dataSection({
    packages: packagesOf(run),
    modules: nonEmpty(Object.keys(task.version.workflow.lib).map(moduleName)),
    network: nonEmpty(executor.allow),
    seconds: task.node.timeoutSeconds,
    task: executor.prompt,
    edges: edgeValues(run),
    context: contextForModel(run),
    analysis: analysis ? analysisForModel(analysis, executor.samples) : undefined,
    examples: nonEmpty(examples.map(({ task, code }) => ({ task, code }))),
    failures: nonEmpty(failures.map(failureForModel)),
  });
  return { instructions: instructions.join("\n\n"), input };
}

const longestError = 2_000;
/** Limit of characters of a traceback. Its end is kept, which shows where the error happened. */
const longestTraceback = 1_000;

function failureForModel({ attempt, message, traceback, code }: Failure): Record<string, unknown> {
  return { attempt, code, error: message.slice(0, longestError), traceback: traceback?.slice(-longestTraceback) };
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function analysisForModel({ json, code }: Analysis, samples: boolean): unknown {
  const found: unknown = JSON.parse(json);
  return samples ? found : hideTexts(found, code);
}

/** Returns the name under which code imports a module: `money.dates` for `money/dates.py`. */
function moduleName(path: string): string {
  return path.replace(/(\/__init__)?\.py$/, "").replaceAll("/", ".");
}

function inputData(run: NodeRun, guides: readonly Guide[], examples: readonly Example[]): Record<string, unknown> {
  const { executor, failures, analysis } = run;
  return {
    task: executor.prompt,
    node_type: run.task.node.type,
    context: contextForRecord(run),
    ...defined({ edges: edgeValues(run) }),
    ...(analysis && { data_insights: JSON.parse(analysis.json) }),
    guides: guides.map(({ name }) => name),
    ...(examples.length > 0 && { examples: examples.map(({ task }) => task) }),
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
      return { text: quoteForPrompt({ documentation: text }), found };
    },
  };
  return tool as unknown as Tool;
}
