import { createKnowledge } from "@nova/agents";
import type { Generation } from "@nova/engine";
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

describe("earlier examples", () => {
  it("are the workflow's, closest to the task's own words", async () => {
    const asked: string[] = [];
    const precedents = {
      async ofWorkflow(workflowId: string) {
        asked.push(workflowId);
        return [kept];
      },
    };
    const examples = await createKnowledge({ precedents }).earlierExamples?.(taskWith(), [0.6, 0.8]);
    expect(asked).toEqual(["bills"]);
    expect(examples).toEqual([{ task: "Sum the items", code: kept.code, similarity: 1 }]);
  });

  it("are not offered at all without a store", () => {
    expect(createKnowledge().earlierExamples).toBeUndefined();
  });
});
