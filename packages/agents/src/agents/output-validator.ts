import type { CodeResult } from "@nova/engine";
import { z } from "zod";
import { done, ended, type Failure, failed, type Result } from "../failures/failure.ts";
import { dataRule, dataSection } from "../prompts/prompt.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import {
  changesForRecord,
  contextForModel,
  contextForRecord,
  edgeValues,
  type NodeRun,
  resultForModel,
  type StepResult,
  takeStep,
} from "./node-run.ts";

const Verdict = z.object({ valid: z.boolean(), reason: z.string() });

const instructions = `You judge whether the code of a workflow step has done its task.
${dataRule}
\`before\` are the values it found, \`set\` and \`deleted\` what it changed, \`code\` what ran.
valid: true if the task is done and the results mean something. False for results that are empty, made up, copied into \
the code, placeholders or errors in disguise, and for parts of the task left out. An honest "not found" is valid where \
the task allows for it. Values that are not shown are no reason to doubt.
reason: one sentence; where it is not valid, what has to change in the code.`;

type Success = CodeResult & { status: "success" };

const maxOutputTokens = 2_000;
const Recorded = z.object({ valid: z.literal(false), reason: z.string() });

/**
 * Returns the flaw of code that changed nothing, because no model needs to judge such code. Returns null for other
 * code.
 */
export function flawOf({ set, delete: deleted }: Success): string | null {
  if (set.length + deleted.length > 0) return null;
  return (
    "the code changed nothing in context - set what the task asks for; values that are right already are confirmed with " +
    'print(json.dumps({"status": "success", "context_updates": {...}}))'
  );
}

/** Lets a model judge whether the task is done and the results are meaningful. */
export async function validateOutput(
  run: NodeRun,
  attempt: number,
  code: string,
  result: Success,
): Promise<Result<null>> {
  const step = await takeStep(run, "OutputValidator", attempt, () => judgeResult(run, code, result));
  if (step.status === "success") return done(null);
  const failure = (message: string): Failure => ({ attempt, message, code, class: "NodeFailed" });
  const rejected = Recorded.safeParse(step.output_data);
  if (rejected.success) return failed(failure(`Output validation failed: ${rejected.data.reason}`));
  const { isFinal, ...ending } = readRefusal(step);
  return isFinal ? ended(ending) : failed(failure(ending.message));
}

async function judgeResult(run: NodeRun, code: string, result: Success): Promise<StepResult> {
  const changes = [...result.set.map(({ key }) => key), ...result.delete];
  const { prompt: task } = run.executor;
  const context = { context_before: contextForRecord(run), context_after: changesForRecord(run, result).changes };
  const input_data = { task, ...context, code_length: code.length };
  const flaw = flawOf(result);
  if (flaw !== null)
    return { status: "failed", input_data, output_data: { valid: false, reason: flaw, changes }, error_message: flaw };
  const [edges, before, set] = [edgeValues(run), contextForModel(run), resultForModel(run, result)];
  const asked = await askModel(run, {
    role: "output_validator",
    prompt: { instructions, input: dataSection({ task, edges, before, code, set, deleted: result.delete }) },
    answer: { name: "verdict", schema: Verdict },
    maxOutputTokens,
  });
  if ("refusal" in asked) return { ...asked.record, ...asked.refusal, input_data };
  const { valid, reason } = asked.value;
  const verdict = { ...asked.record, input_data, output_data: { valid, reason, changes } };
  return valid ? { ...verdict, status: "success" } : { ...verdict, status: "failed", error_message: reason };
}
