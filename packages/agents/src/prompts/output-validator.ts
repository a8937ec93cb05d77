import { z } from "zod";
import type { Summary } from "../schema/summary.ts";
import { dataRule, dataSection, type Prompt } from "./prompt.ts";

export const Verdict = z.object({ valid: z.boolean(), reason: z.string() });
export type Verdict = z.infer<typeof Verdict>;

const instructions = `You judge whether the code of a workflow step has done its task.
${dataRule}
\`before\` are the values it found, \`set\` and \`deleted\` what it changed, \`code\` what ran.
valid: true if the task is done and the results mean something. False for results that are empty, made up, copied into \
the code, placeholders or errors in disguise, and for parts of the task left out. An honest "not found" is valid where \
the task allows for it. Values that are not shown are no reason to doubt.
reason: one sentence; where it is not valid, what has to change in the code.`;

export interface ResultToJudge {
  task: string;
  edges: readonly unknown[] | undefined;
  before: Summary;
  set: Summary;
  deleted: readonly string[];
  code: string;
}

export function outputValidatorPrompt({ task, edges, before, set, deleted, code }: ResultToJudge): Prompt {
  return { instructions, input: dataSection({ task, edges, before, code, set, deleted }) };
}
