import { readFileSync } from "node:fs";
import { parseWorkflow, readWorkflowSource } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { defined } from "../../packages/workflow/src/defined.ts";
import {
  action,
  approval,
  decision,
  each,
  edge,
  end,
  graph,
  mustParse,
  parse,
  row,
  start,
  wait,
} from "./definition.ts";

const fixture = (name: string) => {
  const text = readFileSync(new URL(`../fixtures/workflows/${name}`, import.meta.url), "utf8");
  return parseWorkflow({ text, fileName: name, folder: name, files: {} });
};

const end2 = { id: "done", type: "end" };

describe("a definition from another front end", () => {
  it("is accepted with graph_definition, a numeric id, long type names, and the executor e2b or no executor", () => {
    const { workflow, findings } = fixture("seed-graph-definition.json");
    expect(findings).toEqual([]);
    expect(workflow).toMatchObject({ format: 1, id: "1", name: "Invoice Processing V3", requirements: [], lib: {} });
    expect(workflow?.nodes.map((node) => `${node.id} ${node.type}`)).toEqual([
      "start start",
      "read_email action",
      "has_pdf_decision decision",
      "extract_pdf action",
      "reject action",
      "end end",
    ]);
    expect(workflow?.nodes[1]).toMatchObject({ timeoutSeconds: 30, executor: { kind: "code" } });
    expect(workflow?.nodes[2]).toMatchObject({ timeoutSeconds: 60, executor: { kind: "code" } });
    expect(workflow?.edges[2]).toEqual({ from: "has_pdf_decision", to: "extract_pdf", condition: true });
  });

  it("is accepted with the front end's own fields for models", () => {
    const { workflow, findings } = fixture("seed-prompt.json");
    expect(findings).toEqual([]);
    expect(workflow).toMatchObject({ model: { default: "gpt-4o-mini" } });
    expect(workflow?.nodes[1]).toEqual({
      id: "extract",
      type: "action",
      executor: {
        kind: "prompt",
        prompt: "Extract total from invoice",
        model: { default: "gpt-4o" },
        samples: true,
        allow: [],
      },
      timeoutSeconds: 30,
    });
  });

  it.each([
    ["a node's model", { model: null }],
    ["settings of a model", { model: { model: null, temperature: null, max_tokens: 100 } }],
    ["llm_config", { llm_config: null }],
    ["settings in llm_config", { llm_config: { provider: null, model: null, max_tokens: 100 } }],
  ])("is accepted with null for %s", (_, fields) => {
    const node = action("a", { code: undefined, executor: "text", prompt: "Hello.", ...fields });
    const { workflow, findings } = parse({ ...row(node), model: null });
    expect([findings, workflow?.model]).toEqual([[], undefined]);
  });

  it("gets findings whose paths lead into graph_definition", () => {
    const { id, ...inner } = row(action("read", { timeout: 0 }));
    expect(parse({ id, graph_definition: inner }).findings).toMatchObject([
      { path: "$.graph_definition.nodes[1].timeout" },
    ]);
  });
});

it("a parsed workflow has default values for the fields of code nodes, and field names with units", () => {
  const { nodes, ...workflow } = mustParse({
    ...row(action("read", { effects: false, retry: { attempts: 2 }, isolation: "fresh" })),
    name: "Read",
    description: "Reads",
    timeout: 60,
    model: "gpt",
    requirements: ["pandas==2.2"],
    inputs: { properties: { mail: { secret: true } } },
    $schema: "workflow.schema.json",
  });
  expect(workflow).toEqual({
    format: 1,
    id: "test",
    name: "Read",
    description: "Reads",
    timeoutSeconds: 60,
    model: { default: "gpt" },
    requirements: ["pandas==2.2"],
    inputs: { type: "object", properties: { mail: { secret: true } } },
    lib: {},
    edges: [edge("start > read"), edge("read > end")],
  });
  expect(nodes[1]).toEqual({
    id: "read",
    type: "action",
    executor: { kind: "code", code: "a = 1" },
    timeoutSeconds: 60,
    effects: false,
    retry: { attempts: 2, delaySeconds: 1 },
    isolation: "fresh",
  });
});

it("a parsed workflow has default values for the fields of maps, approvals and waits", () => {
  const nodes = [
    start,
    each("m", [action("one"), end2], ["one > done"], { tolerated_failures: "10%", max_concurrency: 2 }),
    approval("ask", { timeout: "3d" }),
    wait("pause", { seconds: "15m" }),
    wait("news", { event: { source: ["shop"] } }),
    end,
  ];
  const arrows = [
    "start > m",
    "m > ask",
    'ask > pause: "approved"',
    'ask > end: "default"',
    "pause > news",
    "news > end",
  ];
  expect(mustParse(graph(nodes, arrows)).nodes.slice(1, -1)).toEqual([
    {
      id: "m",
      type: "map",
      items: "list",
      as: "item",
      into: "results",
      body: {
        nodes: [{ id: "one", type: "action", executor: { kind: "code", code: "a = 1" }, timeoutSeconds: 60 }, end2],
        edges: [edge("one > done")],
      },
      maxConcurrency: 2,
      toleratedFailures: { percent: 10 },
    },
    {
      id: "ask",
      type: "approval",
      message: "Pay?",
      choices: ["approved", "rejected"],
      timeoutSeconds: 259_200,
      to: [],
      into: "ask",
    },
    { id: "pause", type: "wait", for: { kind: "seconds", seconds: 900 } },
    {
      id: "news",
      type: "wait",
      for: { kind: "event", pattern: { source: ["shop"] }, timeoutSeconds: 604_800, into: "news" },
    },
  ]);
});

it("a parsed workflow has the code of the files that it names and the modules of `lib`, but no other files", () => {
  const files = { "nodes/read.py": "import mails", "lib/mails.py": "x = 1", "lib/deep/er.py": "y = 1", "notes.md": "" };
  const { workflow, python } = parse(row(action("read", { code: undefined, codeFile: "./nodes/read.py" })), files);
  expect(workflow?.nodes[1]).toMatchObject({
    executor: { kind: "code", code: "import mails", file: "nodes/read.py" },
  });
  expect(workflow?.lib).toEqual({ "mails.py": "x = 1", "deep/er.py": "y = 1" });
  expect(python).toEqual([
    { node: { id: "read", type: "action" }, code: "import mails", file: "nodes/read.py", path: "$.nodes[1].codeFile" },
    { code: "x = 1", file: "lib/mails.py", path: "$" },
    { code: "y = 1", file: "lib/deep/er.py", path: "$" },
  ]);
});

it("the Python code of a definition is returned even if the definition has errors", () => {
  const { workflow, python } = parse(graph([decision("d", { type: "DecisionNode", code: "x = 1", timeout: -1 })], []));
  expect(workflow).toBeUndefined();
  expect(python).toEqual([{ node: { id: "d", type: "decision" }, code: "x = 1", path: "$.nodes[0].code" }]);
});

it.each([
  [{ id: "Facturación V3", name: "x" }, "facturacion-v3", "x"],
  [{ id: 7 }, "7", "7"],
  [{ name: "  Invoice -- Processing  " }, "invoice-processing", "  Invoice -- Processing  "],
  [{ id: "!!!", name: "Ok" }, "ok", "Ok"],
  [{}, "folder", "folder"],
])(
  "the id of a workflow is made from its field `id`, its field `name` or its folder, in this order: %j",
  (fields, id, name) => {
    const { id: _, ...rest } = row(action("read"));
    expect(mustParse({ ...rest, ...fields })).toMatchObject({ id, name });
  },
);

it("findings of every kind are reported together, each with its line in the definition", () => {
  const text = JSON.stringify(
    {
      nmae: "x",
      nodes: [start, action("read", { timeout: 90_000 }), { id: "d d", type: "decison" }, end],
      edges: ["start > raed", "read > end"].map(edge),
      inputs: { properties: { error: {} } },
    },
    null,
    1,
  );
  const { findings, workflow } = parseWorkflow({ text, fileName: "w.json", folder: "f", files: {} });
  expect(workflow).toBeUndefined();
  const lines = text.split("\n");
  for (const { file, line = 0, column = 0 } of findings) {
    expect(file).toBe("w.json");
    expect(lines[line - 1]?.[column - 1]).toMatch(/\S/);
  }
  expect(findings.map((one) => one.code).sort()).toEqual(
    ["NOVA105", "NOVA110", "NOVA113", "NOVA206", "NOVA209", "NOVA406", "NOVA502"].sort(),
  );
});

it("a definition that causes only a warning results in a workflow", () => {
  const nodes = [start, decision("d"), end];
  const { workflow, findings } = parse(graph(nodes, ["start > d", "d > end: true"]));
  expect(findings).toMatchObject([{ code: "NOVA302", severity: "warning" }]);
  expect(workflow?.nodes).toHaveLength(3);
});

it("a workflow definition that starts with a byte order mark is accepted", () => {
  const text = `\uFEFF${JSON.stringify(row(action("read")))}`;
  expect(parseWorkflow({ text, fileName: "w.json", files: {} }).findings).toEqual([]);
});

it("the function `defined` leaves out undefined fields, and keeps all others", () => {
  expect(Object.entries(defined({ a: undefined, b: null, c: 0, d: "", e: false }))).toEqual([
    ["b", null],
    ["c", 0],
    ["d", ""],
    ["e", false],
  ]);
});

it.each(["refunds", "invoice"])("the example workflow %s causes no findings", async (name) => {
  const folder = new URL(`../../packages/examples/${name}`, import.meta.url).pathname;
  const { workflow, findings } = parseWorkflow(await readWorkflowSource(folder));
  expect(findings).toEqual([]);
  expect(workflow?.id).toBe(name);
});
