import { z } from "zod";
import type { Failure } from "../failures/failure.ts";
import type { Summary } from "../schema/summary.ts";
import { dataRule, dataSection, type Prompt, pythonRule } from "./prompt.ts";

export const WrittenCode = z.object({ code: z.string() });

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

/** What the generator is told; `undefined` where there is nothing to tell. */
export interface CodeRequest {
  nodeType: "action" | "decision";
  guides: readonly { name: string; text: string }[];
  packages: readonly string[];
  modules: readonly string[];
  network: readonly string[];
  timeoutSeconds: number;
  task: string;
  edges: readonly unknown[] | undefined;
  context: Summary;
  analysis: unknown;
  examples: readonly { task: string; code: string }[] | undefined;
  failures: readonly Failure[];
}

export function codeGeneratorPrompt(request: CodeRequest): Prompt {
  const { nodeType, guides, failures, analysis } = request;
  const rules = [intro, network, contracts[nodeType], search];
  if (analysis !== undefined) rules.push(analysisRule);
  if (request.examples && request.examples.length > 0) rules.push(exampleRule);
  if (failures.length > 0) rules.push(failureRule);
  const instructions = [rules.join("\n"), ...guides.map(({ name, text }) => `# ${name}\n${text.trim()}`)];
  return { instructions: instructions.join("\n\n"), input: dataSection(requestData(request)) };
}

const analysisRule =
  "- `analysis` is what a program found in this step's present values: use it to understand, and read what the task needs " +
  'from the values themselves. If the code reads context["_data_analysis"], that program runs before it every time.';

const exampleRule = "- `examples` is code that did tasks like this one: use what fits, and nothing of it unseen.";

const failureRule =
  "- `failures` are earlier attempts, oldest first, with what was wrong. Find the cause, and write code that repeats none.";

function requestData(request: CodeRequest): Record<string, unknown> {
  return {
    packages: request.packages,
    modules: filled(request.modules),
    network: filled(request.network),
    seconds: request.timeoutSeconds,
    task: request.task,
    edges: request.edges,
    context: request.context,
    analysis: request.analysis,
    examples: request.examples && filled(request.examples.map(({ task, code }) => ({ task, code }))),
    failures: filled(request.failures.map(shownFailure)),
  };
}

const longestError = 2_000;
/** The end of a traceback: where it happened. */
const longestTraceback = 1_000;

function shownFailure({ attempt, message, traceback, code }: Failure): Record<string, unknown> {
  return { attempt, code, error: message.slice(0, longestError), traceback: traceback?.slice(-longestTraceback) };
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}
