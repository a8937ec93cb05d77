import type { Pipeline, PipelineMeans, PromptTask, TextMeans, TextTask } from "@nova/engine";
import { expect, it } from "vitest";
import { frozenPipeline, modelFreePipeline } from "../../../packages/agents/src/lock/pinned-codes.ts";
import { taskWith } from "./tasks.ts";

it("a frozen pipeline freezes every task, and changes nothing else", async () => {
  const seen: unknown[][] = [];
  const told = (...call: unknown[]) => {
    seen.push(call);
    return Promise.resolve(null as never);
  };
  const pipeline: Pipeline = { pinned: told, generation: told, run: told, answer: told };
  const means = {} as PipelineMeans;
  const task = taskWith();
  const pinned = { generation: "g", code: "a = 1" };
  const frozen = frozenPipeline(pipeline);
  await frozen.pinned(task);
  await frozen.generation(task, "g");
  await frozen.run(task, means, pinned);
  const expected: PromptTask = { ...task, frozen: true };
  expect(seen).toEqual([[expected], [expected, "g"], [expected, means, pinned]]);
  expect(task.frozen).toBe(false);
});

it("a frozen pipeline asks the models of text nodes, and a model-free pipeline asks none", async () => {
  const asked: unknown[] = [];
  const answer: Pipeline["answer"] = async (task) => {
    asked.push(task);
    return null as never;
  };
  const refuse = () => Promise.reject(new RangeError("nobody asks for code"));
  const pipeline: Pipeline = { pinned: refuse, generation: refuse, run: refuse, answer };
  const task = { node: { id: "edit" } } as TextTask;
  await frozenPipeline(pipeline).answer(task, {} as TextMeans);
  expect(asked).toEqual([task]);
  expect(await modelFreePipeline(pipeline).answer(task, {} as TextMeans)).toMatchObject({
    status: "failed",
    class: "NodeFailed",
    message: expect.stringMatching(/node "edit" would ask a model, and models are off/),
  });
  expect(asked).toHaveLength(1);
});
