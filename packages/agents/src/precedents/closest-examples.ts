import type { Generation, GenerationStore, PromptTask } from "@nova/engine";
import { newestFirst } from "../lock/choose.ts";

/** Code that worked for a similar task. The code generator may learn from it; it does not run. */
export interface Example {
  task: string;
  code: string;
}

/**
 * The least similarity of an example. Even unrelated tasks of one workflow share some words, and tasks with a lower
 * similarity share nothing more.
 */
const leastSimilarity = 0.5;
const maxExamples = 2;
/** Limit of all examples together, about 900 tokens. */
const maxCharacters = 3_200;

/**
 * Finds the closest earlier tasks of the workflow whose code has worked, closest first. `embedding` is the embedding of
 * the task's prompt. These tasks belong to nodes of the same type. Their code belongs to this client, or all clients
 * share it. If the node's code is written again (`fresh`), the result lacks the earlier code of this node.
 */
export async function earlierExamples(
  store: Pick<GenerationStore, "ofWorkflow">,
  task: PromptTask,
  embedding: readonly number[],
): Promise<Example[]> {
  const generations = await store.ofWorkflow(task.version.workflowId);
  const close = generations
    .filter((one) => !(task.fresh && one.node === task.node.id))
    .filter((one) => hasWorked(one) && one.ingredients.node_type === task.node.type && isFor(task.client, one))
    .map((one) => ({ one, similarity: cosine(embedding, one.embedding ?? []) }))
    // Long prompts are stored as hashes, from which the model cannot learn.
    .filter(({ one, similarity }) => similarity >= leastSimilarity && !one.ingredients.prompt.startsWith("sha256:"))
    .sort((a, b) => b.similarity - a.similarity || newestFirst(a.one, b.one))
    .map(({ one }) => ({ task: one.ingredients.prompt, code: one.code }));
  return limitSize(close);
}

function hasWorked({ status, provenBy }: Generation): boolean {
  return status === "pinned" || (status === "candidate" && provenBy !== undefined);
}

function isFor(client: string, generation: Generation): boolean {
  return generation.client === null || generation.client === client;
}

function limitSize(examples: readonly Example[]): Example[] {
  const chosen: Example[] = [];
  let left = maxCharacters;
  for (const example of examples) {
    const length = example.task.length + example.code.length;
    const isKnown = chosen.some(({ code }) => code === example.code);
    if (chosen.length === maxExamples || length > left || isKnown) continue;
    chosen.push(example);
    left -= length;
  }
  return chosen;
}

/** Cosine of the angle between two vectors; 0 for different lengths, which come from different models. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return 0;
  let [dot, squaresA, squaresB] = [0, 0, 0];
  for (const [index, value] of a.entries()) {
    const other = b[index] as number;
    dot += value * other;
    squaresA += value * value;
    squaresB += other * other;
  }
  const lengths = Math.sqrt(squaresA * squaresB);
  return lengths === 0 ? 0 : dot / lengths;
}
