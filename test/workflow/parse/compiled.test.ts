import { nodeIndex, parseWorkflow, workflowText, writeWorkflow } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { compiledFlow, toolNode } from "../../support/agent.ts";

function parsed(definition: object, more: object = {}) {
  return parseWorkflow({ text: JSON.stringify(definition), fileName: "workflow.json", files: {}, ...more });
}

function problems(definition: object): string[] {
  return parsed(definition).findings.map(({ code, message }) => `${code} ${message}`);
}

const lookUp = toolNode("look_up", "pass", { id: { type: "integer" } });
const code = 'context["resolve"] = tools.look_up(id=1)["order"]';

interface Definition {
  nodes: ({ id: string } & Record<string, unknown>)[];
  edges: object[];
}

/** The compiled flow, with other fields of its code and of its agent. */
function changed(ofCode: object, ofAgent: object = {}, edges: object[] = []): Definition {
  const flow = compiledFlow("flow", [lookUp], code) as Definition;
  const fields: Record<string, object> = { resolve_code: ofCode, resolve: ofAgent };
  return {
    ...flow,
    nodes: flow.nodes.map((node) => ({ ...node, ...fields[node.id] })),
    edges: [...flow.edges, ...edges],
  };
}

describe("code with a fallback", () => {
  it("is parsed into an agent that replaces the code and asks its model only after the code has failed", () => {
    const { workflow, findings, python } = parsed(changed({ name: "Resolve" }));
    expect(findings).toEqual([]);
    expect(workflow?.nodes.map(({ id }) => id)).toEqual(["start", "end", "resolve_code"]);
    const node = workflow && nodeIndex(workflow).get("resolve_code")?.node;
    expect(node).toMatchObject({
      type: "agent",
      name: "Resolve",
      effects: false,
      executor: { kind: "text", into: "resolve", compiled: { code, agent: "resolve" } },
    });
    expect(python).toMatchObject([{ node: { id: "resolve_code", type: "agent" }, code }, { node: { id: "look_up" } }]);
  });

  it("is written together with its agent, and is then parsed into the same workflow again", () => {
    const { workflow } = parsed(changed({ description: "Resolves." }, { max_steps: 7 }));
    if (!workflow) throw new TypeError("the workflow is wrong");
    const again = parseWorkflow(writeWorkflow(workflow));
    expect(again.findings).toEqual([]);
    expect(again.workflow && workflowText(again.workflow)).toBe(workflowText(workflow));
  });

  it("may name code or e2b as its executor", () => {
    for (const executor of ["code", "e2b"]) expect(problems(changed({ executor }))).toEqual([]);
  });

  it("may be part of a workflow in which models are forbidden", () => {
    expect(problems({ ...changed({}), models: false })).toEqual([]);
    expect(parsed(changed({}), { modelsOff: true }).findings).toEqual([]);
  });
});

describe("a finding", () => {
  const edge = { from: "resolve", to: "end" };
  it.each<[string, object, string[]]>([
    [
      "an unknown fallback",
      changed({ fallback: "resolv" }),
      ['NOVA456 node "resolve_code" has the unknown fallback "resolv" - did you mean "resolve"?'],
    ],
    [
      "a fallback that is no agent",
      changed({ fallback: "end" }),
      ['NOVA456 node "resolve_code": its fallback "end" is no agent - name the agent of its tools'],
    ],
    [
      "a fallback of itself",
      changed({ fallback: "resolve_code" }),
      ['NOVA456 node "resolve_code": its fallback "resolve_code" is no agent - name the agent of its tools'],
    ],
    [
      "an agent that calls its own code, which is a cycle",
      changed({ description: "x", input_schema: { type: "object" } }, { tools: ["look_up", "resolve_code"] }),
      [
        'NOVA454 "resolve_code" is an agent, which cannot be a tool - a tool is code, a prompt, a text, an approval or a workflow',
      ],
    ],
    [
      "an edge of the fallback",
      changed({}, {}, [edge]),
      [
        'NOVA456 the edge from "resolve" to "end" touches "resolve", which is only the fallback of "resolve_code" - lead it to "resolve_code"',
      ],
    ],
    [
      "an onError of the fallback",
      changed({}, { onError: "end" }),
      ['NOVA456 the fallback "resolve" has onError - move it to "resolve_code"'],
    ],
    [
      "fields that belong to the agent",
      changed({ timeout: 5 }),
      [
        'NOVA421 node "resolve_code": timeout does nothing at code with a fallback - remove it, or write it at the agent "resolve" if agents take it',
      ],
    ],
    [
      "a fallback of a text node",
      changed({ executor: "text", prompt: "x", code: undefined }),
      ['NOVA456 node "resolve_code" has a fallback, which only an action with code may have - remove it'],
    ],
  ])("names %s, and says how to correct it", (_, definition, expected) => {
    expect(problems(definition)).toEqual(expect.arrayContaining(expected));
  });

  it("names a second node with the same fallback", () => {
    const flow = changed({});
    flow.nodes.push({ id: "other", type: "action", code: "pass", fallback: "resolve" });
    expect(problems(flow)).toContainEqual(
      'NOVA456 "resolve" is the fallback of another node already - copy it under another id',
    );
  });
});
