import { z } from "zod";
import type { Summary } from "../schema/summary.ts";
import { dataRule, dataSection, type Prompt } from "./prompt.ts";

export const InputAnalysis = z.object({
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

export function inputAnalyzerPrompt(task: string, context: Summary): Prompt {
  return { instructions, input: dataSection({ task, context }) };
}
