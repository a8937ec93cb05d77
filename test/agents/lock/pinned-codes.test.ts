import type { Pipeline, PipelineMeans, PromptTask } from "@nova/engine";
import { expect, it } from "vitest";
import { frozenPipeline } from "../../../packages/agents/src/lock/pinned-codes.ts";
import { taskWith } from "./tasks.ts";

it("freezes every task, and changes nothing else", async () => {
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
