import { toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { oneNodeWorkflow } from "../../../packages/cli/src/input/workflow.ts";
import { aslErrors } from "../../compiler/support/states.ts";
import { action, decision, end, start, workflow } from "../../compiler/support/workflows.ts";

const whole = workflow(
  [start(), action("read_Mail", { onError: "end" }), decision("is_big"), action("end"), end("done")],
  ["start -> read_Mail", "read_Mail -> is_big", "is_big -> end : true", 'is_big -> done : "default"', "end -> done"],
  { inputs: { type: "object", required: ["key"], properties: { key: { type: "string", secret: true }, n: {} } } },
);

describe("a node of a workflow that nova run runs alone", () => {
  it.each(["read_Mail", "is_big", "end"])("becomes a valid workflow of a start, the node %s and an end", async (id) => {
    const alone = oneNodeWorkflow(whole, id);
    expect(alone.nodes.map((node) => node.type).join()).toMatch(/^start,(action|decision),end$/);
    expect(await aslErrors(toStateMachine(alone))).toBe("");
  });

  it("keeps the conditions of its edges if it is a decision, and all these edges lead to the end", () => {
    const { edges } = oneNodeWorkflow(whole, "is_big");
    expect(edges).toEqual([
      { from: "start", to: "is_big" },
      { from: "is_big", to: "end", condition: true },
      { from: "is_big", to: "end", condition: "default" },
    ]);
  });

  it("gets the values for references in its text prompt from the inputs of the workflow", () => {
    const executor = { kind: "text", prompt: "Edit {Draft}.", into: "read_Mail" };
    const nodes = whole.nodes.map((node) => (node.id === "read_Mail" ? ({ ...node, executor } as typeof node) : node));
    const { inputs } = oneNodeWorkflow({ ...whole, nodes }, "read_Mail");
    const properties = { key: { secret: true }, __node_mapping: { type: "object" } };
    expect(inputs).toEqual({ type: "object", properties, additionalProperties: true });
  });

  it("becomes a workflow with its own id, without required inputs, and with the secret inputs of the whole workflow", () => {
    const { id, inputs } = oneNodeWorkflow(whole, "read_Mail");
    expect(id).toBe("sample--read-mail");
    expect(inputs).toEqual({ type: "object", properties: { key: { secret: true } } });
  });
});
