import type { Node, PromptExecutor } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { action, each, end, graph, type Loose, mustParse, parse, prompt, row, start } from "../definition.ts";

function executorOf(node: Node | undefined): PromptExecutor {
  if (!node || !("executor" in node) || node.executor.kind !== "prompt") throw new TypeError("it is no prompt node");
  return node.executor;
}

/** Parses a workflow with one prompt node that has these fields. */
function read(node: Loose, workflow: Loose = {}) {
  const { nodes, ...rest } = mustParse({ ...row(prompt("a", node)), ...workflow });
  return { executor: executorOf(nodes[1]), node: nodes[1], workflow: rest };
}

describe("a prompt node", () => {
  it("is parsed with default values for fields that are not written", () => {
    expect(read({}).node).toEqual({
      id: "a",
      type: "action",
      executor: { kind: "prompt", prompt: "Sum up the mail.", samples: true, allow: [] },
      timeoutSeconds: 30,
    });
  });

  it("is parsed with all of its written fields", () => {
    const written = {
      name: "A",
      model: { code_generator: "big" },
      limits: { max_cost_usd: 0.25 },
      ai: { samples: false },
      network: { allow: ["B.example", "a.example:443"] },
      timeout: 600,
      effects: true,
      onError: "end",
      isolation: "fresh",
    };
    expect(read(written).node).toEqual({
      id: "a",
      name: "A",
      type: "action",
      executor: {
        kind: "prompt",
        prompt: "Sum up the mail.",
        model: { code_generator: "big" },
        samples: false,
        maxCostUsd: 0.25,
        allow: ["a.example:443", "b.example"],
      },
      timeoutSeconds: 600,
      effects: true,
      onError: "end",
      isolation: "fresh",
    });
  });

  it("may have its prompt in a file", () => {
    const files = { "prompts/a.md": "Do it.\n" };
    const definition = row(prompt("a", { prompt: undefined, promptFile: "./prompts/a.md" }));
    const { executor } = mustParse(definition, files).nodes[1] as { executor: PromptExecutor };
    expect(executor).toMatchObject({ prompt: "Do it.\n", file: "prompts/a.md" });
  });

  it("may be a decision", () => {
    const { type, ...written } = prompt("d");
    const nodes = [start, { ...written, type: "decision" }, action("b"), end];
    const { workflow, findings, python } = parse(
      graph(nodes, ["start > d", "d > b: true", "d > end: false", "b > end"]),
    );
    expect(findings).toEqual([]);
    expect(workflow?.nodes[1]).toMatchObject({ type: "decision", executor: { kind: "prompt" }, timeoutSeconds: 30 });
    expect(python.map(({ node }) => node?.id)).toEqual(["b"]);
  });

  it("may be in a map, where it also gets the settings of the workflow", () => {
    const body = each("m", [prompt("a"), each("n", [prompt("b", { network: { allow: ["b.example"] } })])], ["a > n"]);
    const { nodes } = mustParse({ ...row(body), network: { allow: ["all.example"] }, ai: { samples: false } });
    const [outer] = nodes.flatMap((node) => (node.type === "map" ? node.body.nodes : []));
    expect(executorOf(outer)).toMatchObject({ samples: false, allow: ["all.example"] });
    expect(JSON.stringify(nodes)).toContain('"samples":false,"allow":["all.example","b.example"]');
  });
});

describe("the settings of a workflow for its prompt nodes", () => {
  it("are stored once in the parsed workflow, not in each prompt node", () => {
    const fields = { model: "m", limits: { max_cost_usd: 3 }, approval: "required", scope: "client" };
    const { workflow, executor } = read({}, fields);
    expect(workflow).toMatchObject({ model: { default: "m" }, maxCostUsd: 3, approval: "required", scope: "client" });
    expect(executor).not.toHaveProperty("model");
    expect(executor).not.toHaveProperty("maxCostUsd");
  });

  it.each([
    [undefined, undefined, true],
    [false, undefined, false],
    [false, true, true],
    [true, false, false],
  ])(
    "decide whether models see samples of values (%j), unless the node decides this itself (%j)",
    (all, own, expected) => {
      const ai = (samples: boolean | undefined) => (samples === undefined ? {} : { ai: { samples } });
      expect(read(ai(own), ai(all)).executor.samples).toBe(expected);
    },
  );

  it("add their network hosts to the hosts of the node, sorted and without repetition", () => {
    const { executor } = read({ network: { allow: ["c.x", "A.x:1"] } }, { network: { allow: ["b.x", "a.x:1"] } });
    expect(executor.allow).toEqual(["a.x:1", "b.x", "c.x"]);
  });
});

describe("the finding about a prompt node", () => {
  it.each([
    [
      { model: { code_genrator: "x" } },
      'node "a" has an unknown field "model.code_genrator" - did you mean "code_generator"?',
    ],
    [{ limits: { max_cost: 1 } }, 'node "a" has an unknown field "limits.max_cost" - did you mean "max_cost_usd"?'],
    [{ ai: { samples: true, sample: 1 } }, 'node "a" has an unknown field "ai.sample" - did you mean "samples"?'],
    [{ netwrok: { allow: [] } }, 'node "a" has an unknown field "netwrok" - did you mean "network"?'],
    [{ limits: { max_cost_usd: 0 } }, 'node "a": limits.max_cost_usd must be US dollars, more than 0, not 0'],
    [{ timeout: 900 }, 'node "a": timeout of a prompt node must be seconds from 1 to 600, not 900'],
    [
      { network: { allow: ["*.x"] } },
      'node "a": network.allow.0 must name one host each, as "host" or "host:port" such as "imap.example.com:993": a wildcard cannot be enforced, not "*.x"',
    ],
  ])("with the fields %j says what to do", (fields, message) => {
    expect(parse(row(prompt("a", fields))).findings.map((one) => one.message)).toContain(message);
  });
});
