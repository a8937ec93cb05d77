import { createKnowledge, createPinnedCodes } from "@nova/agents";
import { expect, it } from "vitest";
import { MemoryGenerations } from "../../support/memory-generations.ts";
import { generator, taskWith, written } from "../lock/tasks.ts";

const vectors: Record<string, number[]> = { "Add up the lines.": [0.9, 0.1], "Sum what is in the list": [1, 0] };

/** Knows the tasks of this file, and no others. */
async function embed(texts: string[]): Promise<number[][]> {
  return texts.map((text) => vectors[text] ?? Promise.reject(new Error(text))) as number[][];
}

async function keepCode(store: MemoryGenerations, parts: { embed?: () => null } = {}): Promise<void> {
  const readsOf = async () => written.reads;
  const pinned = createPinnedCodes({ store, generator, readsOf, embed, clock: { now: () => 0 }, ...parts });
  await pinned.keep(taskWith(), { ...written, guides: [] });
}

it("finds code that was kept for another node whose task says the same in other words", async () => {
  const generations = new MemoryGenerations();
  await keepCode(generations);
  const knowledge = createKnowledge({ precedents: { generations, embed } });
  const task = taskWith({ node: { id: "add" }, executor: { prompt: "Sum what is in the list" } });
  expect(await knowledge.earlierExamples?.(task)).toMatchObject([{ task: "Add up the lines.", code: written.code }]);
});

it("keeps code without an embedding where no embedding model is set", async () => {
  const generations = new MemoryGenerations();
  await keepCode(generations, { embed: () => null });
  expect(generations.all).toMatchObject([{ code: written.code, status: "pinned" }]);
  expect(generations.all[0]).not.toHaveProperty("embedding");
});
