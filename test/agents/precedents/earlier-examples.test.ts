import { createKnowledge, embedTask } from "@nova/agents";
import type { Generation, PromptTask } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { taskWith } from "../lock/tasks.ts";

const kept = {
  workflowId: "bills",
  client: null,
  status: "pinned",
  ingredients: { prompt: "Sum the items", node_type: "action" },
  code: 'context["sum"] = 1',
  createdAt: "2026-11-22T10:00:00.000Z",
  embedding: [0.6, 0.8],
} as unknown as Generation;

/** A store that is asked for one workflow, or not at all. */
function storeOf(asked: string[]) {
  return {
    async ofWorkflow(workflowId: string) {
      asked.push(workflowId);
      return [kept];
    },
  };
}

async function examplesOf(task: PromptTask, embed: (texts: string[]) => Promise<number[][]> | null) {
  const asked: string[] = [];
  const knowledge = createKnowledge({ precedents: { generations: storeOf(asked), embed } });
  return { examples: await knowledge.earlierExamples?.(task), asked };
}

describe("earlier examples", () => {
  it("are the workflow's, closest to the task's own words", async () => {
    const texts: string[][] = [];
    const { examples, asked } = await examplesOf(taskWith({ executor: { prompt: "Add the items" } }), async (batch) => {
      texts.push(batch);
      return [[0.6, 0.8]];
    });
    expect(texts).toEqual([["Add the items"]]);
    expect(asked).toEqual(["bills"]);
    expect(examples).toEqual([{ task: "Sum the items", code: kept.code, similarity: 1 }]);
  });

  it.each([
    ["no embedding model is set", () => null],
    ["the model cannot be reached", async () => Promise.reject(new Error("connection refused"))],
    ["the server answers nothing", async () => []],
  ])("are none, and the store is not asked, where %s", async (_, embed) => {
    expect(await examplesOf(taskWith(), embed)).toEqual({ examples: [], asked: [] });
  });

  it("are none for code written by hand", async () => {
    const task = taskWith();
    const byHand = { ...task, node: { ...task.node, executor: { kind: "code", code: "pass" } } } as PromptTask;
    const embed = async () => Promise.reject(new Error("must not be asked"));
    expect(await examplesOf(byHand, embed)).toEqual({ examples: [], asked: [] });
  });

  it("are not offered at all without a store", () => {
    expect(createKnowledge().earlierExamples).toBeUndefined();
  });
});

describe("a task's embedding", () => {
  it("is rounded, so that it can lie beside the code", async () => {
    expect(await embedTask("Add", async () => [[0.123456, -0.99996, 0]])).toEqual([0.1235, -1, 0]);
  });

  it("is of the beginning of a long text", async () => {
    let length = 0;
    await embedTask("x".repeat(50_000), async ([text = ""]) => {
      length = text.length;
      return [[1]];
    });
    expect(length).toBe(8_000);
  });
});
