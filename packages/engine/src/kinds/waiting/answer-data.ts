import { checkData, deepestNesting, measureOf, type WrittenJson } from "@nova/workflow";
import type { WaitingTask } from "../../ports/tasks.ts";
import { AnswerMisfit } from "./waiting-task.ts";

export function noChoice({ node, choices }: WaitingTask, choice: string): AnswerMisfit {
  return new AnswerMisfit(`"${choice}" is no choice of "${node}" - choose ${choices.join(" or ")}`);
}

export function formOf({ form, forms }: Pick<WaitingTask, "form" | "forms">, choice: string): WrittenJson | undefined {
  return forms && Object.hasOwn(forms, choice) ? forms[choice] : form;
}

/**
 * Checks the data against the form of the choice, and returns the data as JSON text. If the choice has no form, any
 * data fit, and data may be missing.
 */
export async function fittingData(
  task: WaitingTask,
  { choice, data }: { choice: string; data?: string },
): Promise<string> {
  const form = formOf(task, choice);
  const text = data?.trim() ?? (form ? "{}" : "null");
  if (measureOf(text).depth > deepestNesting) {
    throw new AnswerMisfit(`the data is nested more than ${deepestNesting} levels deep - pass it as text`);
  }
  const problems = form ? await checkData(form, text) : [];
  if (problems.length > 0)
    throw new AnswerMisfit(`the form of "${task.node}" refuses the data: ${problems.join("; ")}`);
  return text;
}
