import { expect, it } from "vitest";
import { createPinnedCodes } from "../../../packages/agents/src/lock/pinned-codes.ts";
import { earlierExamples } from "../../../packages/agents/src/precedents/closest-examples.ts";
import { MemoryGenerations } from "../../support/memory-generations.ts";
import { generator, taskWith, written } from "../lock/tasks.ts";

async function keepCode(store: MemoryGenerations, more: { embedding?: number[] } = {}): Promise<void> {
  const pinned = createPinnedCodes({ store, generator, readsOf: async () => written.reads, clock: { now: () => 0 } });
  await pinned.keep(taskWith(), { ...written, guides: [], ...more });
}

it("a task finds code of another node whose task has the same meaning", async () => {
  const generations = new MemoryGenerations();
  await keepCode(generations, { embedding: [0.9, 0.1] });
  const task = taskWith({ node: { id: "add" }, executor: { prompt: "Sum what is in the list" } });
  const examples = await earlierExamples(generations, task, [1, 0]);
  expect(examples).toMatchObject([{ task: "Add up the lines.", code: written.code }]);
});

it("code is stored without an embedding if there is none", async () => {
  const generations = new MemoryGenerations();
  await keepCode(generations);
  expect(generations.all).toMatchObject([{ code: written.code, status: "pinned" }]);
  expect(generations.all[0]).not.toHaveProperty("embedding");
});
