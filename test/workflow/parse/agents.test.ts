import { nodeIndex, parseWorkflow, workflowText, writeWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { agentFlow, toolNode } from "../../support/agent.ts";

function parsed(definition: object) {
  return parseWorkflow({ text: JSON.stringify(definition), fileName: "workflow.json", files: {} });
}

function problems(definition: object): string[] {
  return parsed(definition).findings.map(({ code, message }) => `${code} ${message}`);
}

const lookUp = toolNode("look_up", "pass", { id: { type: "integer" } });
const refund = toolNode("refund", "pass", { amount: { type: "number" } }, { effects: true });

describe("the tools of an agent", () => {
  it("are moved from the workflow into the agent", () => {
    const { workflow, findings } = parsed(agentFlow("flow", [lookUp, refund]));
    expect(findings).toEqual([]);
    expect(workflow?.nodes.map(({ id }) => id)).toEqual(["start", "resolve", "end"]);
    const agent = workflow && nodeIndex(workflow).get("resolve")?.node;
    expect(agent).toMatchObject({
      type: "agent",
      maxConcurrency: 5,
      executor: { kind: "text", into: "resolve", maxSteps: 20 },
      retry: { attempts: 20, on: ["ModelUnavailable"] },
    });
    if (agent?.type !== "agent") throw new TypeError("resolve is no agent");
    expect(agent.executor.tools).toEqual([
      { name: "look_up", entry: "look_up" },
      { name: "refund", entry: "refund" },
    ]);
    expect(agent.body.nodes).toMatchObject([{ id: "look_up", description: "The tool look_up." }, { effects: true }]);
  });

  it("may ask people first, be an approval, or be a published workflow", () => {
    const approved = { ...refund, approve: { message: "Refund {{amount}}?", to: ["cfo@acme.com"], timeout: "3d" } };
    const ask = { id: "ask", type: "approval", message: "{{question}}", description: "Asks.", input_schema: question };
    const tools = ["refund", "ask", { workflow: "billing", version: 2 }];
    const { workflow, findings } = parsed(agentFlow("flow", [approved, ask], { tools }));
    expect(findings).toEqual([]);
    const agent = workflow && nodeIndex(workflow).get("resolve")?.node;
    if (agent?.type !== "agent") throw new TypeError("resolve is no agent");
    expect(agent.executor.tools).toEqual([
      { name: "refund", entry: "refund_approval" },
      { name: "ask", entry: "ask" },
      { name: "billing", entry: "billing" },
    ]);
    expect(agent.body.edges).toEqual([
      { from: "refund_approval", to: "refund", condition: "approved" },
      { from: "refund_approval", to: "resolve_answered", condition: "default" },
      { from: "ask", to: "resolve_answered", condition: "default" },
    ]);
    expect(agent.body.nodes).toMatchObject([
      { id: "refund_approval", type: "approval", message: "Refund {{amount}}?", timeoutSeconds: 259_200 },
      { id: "refund" },
      { id: "ask" },
      { id: "billing", type: "workflow", workflow: "billing", version: 2 },
      { id: "resolve_answered", type: "end" },
    ]);
  });

  it("are the same after their workflow is written as a definition and parsed again", () => {
    const approved = { ...refund, approve: { message: "Refund {{amount}}?", timeout: "3d" } };
    const ask = { id: "ask", type: "approval", message: "{{question}}", description: "Asks.", input_schema: question };
    const tools = ["refund", "ask", "look_up", { workflow: "billing" }];
    const { workflow } = parsed(agentFlow("flow", [approved, ask, lookUp], { tools, max_steps: 7 }));
    if (!workflow) throw new TypeError("the workflow is wrong");
    const again = parseWorkflow(writeWorkflow(workflow));
    expect(again.findings).toEqual([]);
    expect(again.workflow && workflowText(again.workflow)).toBe(workflowText(workflow));
  });
});

const question = { type: "object", properties: { question: { type: "string" } } };
const each = {
  id: "each",
  type: "map",
  items: "list",
  nodes: [{ id: "one", type: "action", code: "pass" }],
  edges: [],
};

describe("a finding", () => {
  it.each<[string, object, string]>([
    [
      "an unknown tool",
      agentFlow("flow", [lookUp], { tools: ["look_upp"] }),
      'NOVA450 the agent "resolve" has the unknown tool "look_upp" - did you mean "look_up"?',
    ],
    [
      "an agent without tools",
      agentFlow("flow", [lookUp], { tools: undefined }),
      'NOVA450 node "resolve" is an agent without tools - add tools, or make it a text node',
    ],
    [
      "a tool that is listed twice",
      agentFlow("flow", [lookUp], { tools: ["look_up", "look_up"] }),
      'NOVA452 "look_up" is a tool of "resolve" already - list it once, or copy the node under another id',
    ],
    [
      "a map as a tool",
      agentFlow("flow", [each]),
      'NOVA454 "each" is of type map, which cannot be a tool - a tool is code, a prompt, a text, an approval or a workflow',
    ],
    [
      "an agent as its own tool",
      agentFlow("flow", [lookUp], { tools: ["resolve"] }),
      'NOVA454 "resolve" is an agent, which cannot be a tool - a tool is code, a prompt, a text, an approval or a workflow',
    ],
    [
      "a workflow as a tool of itself",
      agentFlow("flow", [lookUp], { tools: ["look_up", { workflow: "flow" }] }),
      'NOVA454 the agent "resolve" has its own workflow "flow" as a tool, so its calls would never end - name another workflow',
    ],
    [
      "a tool without description",
      agentFlow("flow", [{ ...lookUp, description: undefined }]),
      'NOVA453 the tool "look_up" has no description, from which the model learns how to call it - add it',
    ],
    [
      "a tool without any description",
      agentFlow("flow", [{ id: "look_up", type: "action", code: "pass" }]),
      'NOVA453 the tool "look_up" has no description and no input_schema, from which the model learns how to call it - add both',
    ],
    [
      "an input_schema of a list",
      agentFlow("flow", [{ ...lookUp, input_schema: { type: "array" } }]),
      'NOVA453 node "look_up": input_schema must have "type": "object" - describe the arguments in properties',
    ],
    [
      "a tool with onError",
      agentFlow("flow", [{ ...lookUp, onError: "end" }]),
      'NOVA451 the tool "look_up" has onError, but its errors go back to the model of "resolve" - remove it',
    ],
    [
      "too many steps",
      agentFlow("flow", [lookUp], { max_steps: 1001 }),
      'NOVA104 node "resolve": max_steps must be a whole number from 1 to 1000, not 1001',
    ],
    [
      "an empty list of tools",
      agentFlow("flow", [lookUp], { tools: [] }),
      'NOVA104 node "resolve": tools must have at least one tool, not []',
    ],
    [
      "an agent that decides",
      agentFlow("flow", [lookUp], { type: "decision" }),
      'NOVA403 node "resolve" is a decision, and an agent is an action - let a decision after it choose',
    ],
  ])("names %s, and says how to correct it", (_, definition, expected) => {
    expect(problems(definition)).toContain(expected);
  });

  it("names an edge that touches a tool", () => {
    const flow = agentFlow("flow", [lookUp]) as { edges: object[] };
    flow.edges.push({ from: "resolve", to: "look_up" });
    expect(problems(flow)).toEqual([
      'NOVA451 the edge from "resolve" to "look_up" touches "look_up", a tool that only the agent "resolve" starts - remove the edge',
    ]);
  });

  it("names several edges that leave an agent", () => {
    const flow = agentFlow("flow", [lookUp]) as { nodes: object[]; edges: object[] };
    flow.nodes.push({ id: "mail", type: "action", code: "pass" });
    flow.edges.push({ from: "resolve", to: "mail" }, { from: "mail", to: "end" });
    expect(problems(flow)).toEqual([expect.stringMatching(/^NOVA455 several edges leave the agent "resolve"/)]);
  });

  it("names fields of an agent at other nodes", () => {
    const node = { id: "work", type: "action", code: "pass", max_steps: 5 };
    expect(problems(agentFlow("flow", [lookUp, node], { tools: ["look_up"] }))).toContain(
      'NOVA421 node "work": max_steps is for agents, and would do nothing here - remove it, or add "executor": "agent"',
    );
  });
});
