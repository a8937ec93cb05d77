import type { GenerationStore, PromptTask } from "@nova/engine";
import { expect, it, vi } from "vitest";
import { nodePipeline } from "../../functions/node-parts.ts";

const made = vi.hoisted(() => ({ pipelines: 0 }));

vi.mock("@nova/agents", () => ({
  frozenPipeline: (pipeline: object) => pipeline,
  modelFreePipeline: (pipeline: object) => pipeline,
  createModels: () => ({}),
  createPipeline: () => {
    made.pipelines += 1;
    return { pinned: async () => null, generation: async (_: unknown, key: string) => ({ generation: key, code: "" }) };
  },
}));

it("the pipeline is created once, at the first prompt node", async () => {
  const keys = { NOVA_SIGNING_KEY: "0".repeat(64), NOVA_VAULT_KEY: "0".repeat(64) };
  const pipeline = nodePipeline({ NOVA_TABLE: "t", NOVA_BUCKET: "b", ...keys }, {} as GenerationStore);
  expect(made.pipelines).toBe(0);
  const task = {} as PromptTask;
  const [pinned, found] = await Promise.all([pipeline.pinned(task), pipeline.generation(task, "key")]);
  expect({ pinned, found, ...made }).toEqual({ pinned: null, found: { generation: "key", code: "" }, pipelines: 1 });
});
