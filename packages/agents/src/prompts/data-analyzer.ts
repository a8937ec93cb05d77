import { z } from "zod";
import type { Summary } from "../schema/summary.ts";
import { dataRule, dataSection, type Prompt, pythonRule } from "./prompt.ts";

export const WrittenAnalysis = z.object({ code: z.string() });

const instructions = `You write Python that looks at the data of a workflow step, so that code for its task can be written afterwards. \
The task itself is not done now.
${dataRule}
${pythonRule}
- The code sets a dict \`result\`: what whoever writes the code must know of form and content, such as type, size, pages, \
columns, encoding, labels found, one or two short excerpts. JSON values, under 4,000 characters in all.
- It only reads: nothing is sent, written or changed. It ends within 15 seconds.`;

export function dataAnalyzerPrompt(task: string, context: Summary, importable: readonly string[]): Prompt {
  return { instructions, input: dataSection({ packages: importable, task, context }) };
}
