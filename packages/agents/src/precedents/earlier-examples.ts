import type { GenerationStore, PromptTask } from "@nova/engine";
import { closestExamples, type Example } from "./closest-examples.ts";
import { type Embed, embedTask } from "./embed-task.ts";

/** What is known of earlier tasks: the code that is kept, and a model that can tell which are alike. */
export interface Precedents {
  generations: Pick<GenerationStore, "ofWorkflow">;
  embed: Embed;
}

/** What worked for the closest earlier tasks of the workflow, at most two; asks the store only where there are embeddings. */
export async function earlierExamples(task: PromptTask, { generations, embed }: Precedents): Promise<Example[]> {
  const { executor } = task.node;
  if (executor.kind !== "prompt") return [];
  const embedding = await embedTask(executor.prompt, embed);
  if (!embedding) return [];
  return closestExamples(task, embedding, await generations.ofWorkflow(task.version.workflowId));
}
