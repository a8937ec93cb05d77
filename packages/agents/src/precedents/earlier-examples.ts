import type { GenerationStore, PromptTask } from "@nova/engine";
import { closestExamples, type Example } from "./closest-examples.ts";

/** The code that is kept of earlier tasks. */
export type Precedents = Pick<GenerationStore, "ofWorkflow">;

/** What worked for the closest earlier tasks of the workflow, at most two. `embedding`: of the task. */
export async function earlierExamples(
  task: PromptTask,
  embedding: readonly number[],
  generations: Precedents,
): Promise<Example[]> {
  return closestExamples(task, embedding, await generations.ofWorkflow(task.version.workflowId));
}
