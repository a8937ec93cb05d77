import { compileWorkflow, toStateMachine } from "@nova/compiler";
import { describe, expect, it } from "vitest";
import { checkEvents, checkSize, definitionLimitBytes } from "../../packages/compiler/src/check.ts";
import { action, body, chainOf, decision, end, map, start, workflow } from "./support/workflows.ts";

const inputs = { properties: { ticket: { type: "object" }, customer: { type: "string" } } };
const credentials: string[] = [];

interface Given {
  inputs?: object;
  more?: object;
  lib?: string;
}

type Step = { id: string; type: string } & Record<string, unknown>;

function codeStep(id: string, code: string, more: object = {}): Step {
  return { id, type: "action", code, ...more };
}

/**
 * Compiles a workflow of these nodes in a row. Returns the messages of its findings about keys of the context
 * (NOVA508).
 */
async function said(steps: Step[], { inputs: declared = inputs, more = { credentials }, lib = "" }: Given = {}) {
  const nodes = [{ id: "start", type: "start" }, ...steps, { id: "end", type: "end" }];
  const edges = nodes.slice(1).map(({ id }, index) => {
    const from = nodes[index] as Step;
    return { from: from.id, to: id, ...(from.type === "approval" && { condition: "default" }) };
  });
  const text = JSON.stringify({ id: "keys", inputs: declared, ...more, nodes, edges });
  const files = lib === "" ? {} : { "lib/own.py": lib };
  const { findings } = await compileWorkflow({ text, fileName: "keys.json", files });
  expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
  return findings.flatMap(({ code, message }) => (code === "NOVA508" ? [message] : []));
}

const meant = 'nothing before sets "tiket" - did you mean "ticket"?';
const mapStep = (items: string, code: string): Step => ({
  id: "each",
  type: "map",
  items,
  as: "row",
  into: "rows",
  nodes: [codeStep("one", code)],
  edges: [],
});

describe("a key of the context that no earlier node sets", () => {
  it.each<[string, Step, string]>([
    ["the code of a node", codeStep("a", 'context["id"] = context["tiket"]'), `node "a": line 1: ${meant}`],
    [
      "the message of an approval",
      { id: "a", type: "approval", message: "{{tiket.id}}?" },
      `node "a" names {{tiket.id}}, but ${meant}`,
    ],
    [
      "the `until` of a wait",
      { id: "a", type: "wait", until: "{{tiket.due}}" },
      `node "a" names {{tiket.due}}, but ${meant}`,
    ],
    ["the `items` of a map", mapStep("tiket.rows", "pass"), `node "each" names tiket.rows, but ${meant}`],
    [
      "the code of a node in a map",
      mapStep("ticket.rows", 'context["n"] = context["tiket"]'),
      `node "one": line 1: ${meant}`,
    ],
    [
      "the `input` of a workflow node",
      { id: "a", type: "workflow", workflow: "other", input: { id: "tiket.id" } },
      `node "a" names tiket.id, but ${meant}`,
    ],
  ])("causes a finding if %s reads it", async (_where, step, message) => {
    expect(await said([step])).toEqual([message]);
  });

  it("causes a finding if only a later node, or only a node inside a map, sets it", async () => {
    const early = codeStep("early", 'context["x"] = context["later"]');
    expect(await said([early, codeStep("late", 'context["later"] = 1')])).toEqual([
      'node "early": line 1: nothing before sets "later", only "late", which does not run before - declare it in inputs, or set it in a node before',
    ]);
    const outside = codeStep("outside", 'context["y"] = context["rows"][0]["own"] + context["own"]');
    expect(await said([mapStep("ticket.rows", 'context["own"] = context["row"]'), outside])).toEqual([
      'node "outside": line 1: nothing before sets "own" - declare it in inputs, or set it in a node before',
    ]);
  });

  it.each<[string, string]>([
    ["is read with get", 'context["x"] = context.get("reason")'],
    ["is set by the same code before it is read", 'context["reason"] = 1\ncontext["x"] = context["reason"]'],
    [
      "may be absent, because the code tests for it",
      'try:\n    context["x"] = context["reason"]\nexcept KeyError:\n    pass',
    ],
    ["is a key that NOVA sets", 'context["x"] = context["error"]'],
  ])("causes no finding if it %s", async (_how, code) => {
    expect(await said([codeStep("a", code)])).toEqual([]);
  });

  const read = codeStep("read", 'context["x"] = context["reason"]');
  const slip = codeStep("slip", 'context["y"] = context["tiket"]');
  it.each<[string, Step[], Given]>([
    ["inputs declare no keys", [], { inputs: {} }],
    ["inputs allow other keys", [], { inputs: { ...inputs, additionalProperties: true } }],
    ["an earlier node computes keys", [codeStep("a", 'context.update(context["ticket"])')], {}],
    ["an earlier node prints a result with unknown keys", [codeStep("a", 'print(json.dumps(context["ticket"]))')], {}],
    [
      "a model writes the code of an earlier node",
      [{ id: "a", type: "action", executor: "prompt", prompt: "Read it." }],
      {},
    ],
  ])(
    "causes a finding only if it is similar to another key and therefore probably misspelt, because %s",
    async (_why, before, given) => {
      const known = codeStep("known", 'context["ticket"] = {}');
      expect(await said([known, ...before, read, slip], given)).toEqual([`node "slip": line 1: ${meant}`]);
    },
  );

  it("causes no finding if a trigger, a credential, an approval's answer, another workflow or a printed result sets it", async () => {
    const from = (key: string) => codeStep(`use_${key}`, `context["of_${key}"] = context["${key}"]`);
    expect(
      await said([from("webhook")], { more: { credentials, triggers: [{ id: "hook", type: "webhook" }] } }),
    ).toEqual([]);
    expect(await said([from("crm_token")], { more: {} })).toEqual([]);
    expect(await said([{ id: "ask", type: "approval", message: "?" }, from("ask")])).toEqual([]);
    expect(await said([{ id: "run", type: "workflow", workflow: "other" }, from("run")])).toEqual([]);
    const printed = 'print(json.dumps({"status": "success", "context_updates": {"reason": 1}}))';
    expect(await said([codeStep("a", printed), read])).toEqual([]);
    expect(await said([codeStep("a", "import own\nown.say()"), read], { lib: "from json import dumps" })).toEqual([]);
  });
});

describe("the resume link of a wait, which the code of another node reads,", () => {
  const wait = (id: string): Step => ({
    id,
    type: "wait",
    event: { source: ["crm"], detail: { of: ["{{customer}}"] } },
  });
  const naming = (id: string, wait: string) => codeStep(id, `context["at_${id}"] = tasks["${wait}"].url`);
  /**
   * Compiles a fork with two branches, and returns the messages of the findings about resume links. The node `first`
   * and the wait `crm` are in one branch, and the node `second` is in the other branch. The branches join at `after`,
   * and the wait `last` follows.
   */
  const forked = async (...named: Step[]) => {
    const codes = new Map(named.map((node) => [node.id, node]));
    const ids = ["before", "first", "second", "after"];
    const nodes = [
      ...[{ id: "start", type: "start" }, ...ids.map((id) => codes.get(id) ?? codeStep(id, "pass"))],
      ...[
        wait("crm"),
        wait("last"),
        mapStep("ticket.rows", codes.get("one")?.code as string),
        { id: "end", type: "end" },
      ],
    ];
    const ways = ["start before", "before first", "first crm", "crm after", "before second", "second after"];
    const edges = [...ways, "after each", "each last", "last end"].map((way) => {
      const [from, to] = way.split(" ");
      return { from, to };
    });
    const text = JSON.stringify({ id: "waits", inputs, nodes, edges });
    const { findings } = await compileWorkflow({ text, fileName: "waits.json", files: {} });
    return findings.flatMap(({ code, message }) => (code === "NOVA509" ? [message] : []));
  };
  const one = codeStep("one", "pass");

  it.each<[string, Step]>([
    ["in the branch of that node", naming("first", "crm")],
    ["before the fork's join, and that node is after the join", naming("second", "last")],
    ["in a map, and that node is outside the map", naming("one", "last")],
    [
      "elsewhere, but the code tolerates that its link is absent",
      codeStep("before", 'try:\n    tasks["crm"]\nexcept KeyError:\n    pass'),
    ],
    ["one whose id the code computes", codeStep("before", 'context["x"] = tasks[context["customer"]].url')],
  ])("causes no finding if the wait is %s", async (_where, node) => {
    expect(await forked(one, node)).toEqual([]);
  });

  it("causes a finding if the code is before the fork or in another branch, or if the id is misspelt or names no wait", async () => {
    expect(await forked(one, naming("before", "crm"), naming("second", "crm"), naming("after", "lst"))).toEqual([
      'node "before": line 1: the wait "crm" is in a branch or a map that this node is not in - read its link there',
      'node "second": line 1: the wait "crm" is in a branch or a map that this node is not in - read its link there',
      'node "after": line 1: no node "lst" waits for an event - did you mean "last"?',
    ]);
    expect(await forked(one, naming("after", "second"))).toEqual([
      'node "after": line 1: no node "second" waits for an event - name one of "last"',
    ]);
  });
});

describe("the results of a node, which the code of another node reads with `outputs`,", () => {
  const naming = (id: string, node: string) => codeStep(id, `context["of_${id}"] = outputs["${node}"]["total"]`);
  const found = async (...steps: Step[]) => {
    const nodes = [{ id: "start", type: "start" }, ...steps, { id: "end", type: "end" }];
    const edges = nodes.slice(1).map(({ id }, index) => ({ from: nodes[index]?.id, to: id }));
    const text = JSON.stringify({ id: "results", inputs, nodes, edges });
    const { findings } = await compileWorkflow({ text, fileName: "results.json", files: {} });
    return findings.flatMap(({ code, message }) => (code === "NOVA510" ? [message] : []));
  };
  const fetch = codeStep("fetch", 'context["total"] = 1');

  it("cause no finding if the code runs after the node, is in a later map, or tolerates that they are absent", async () => {
    const asking = codeStep("ask", 'context["x"] = outputs.get("late") or "late" in outputs and outputs["late"]');
    const expecting = codeStep("expect", 'try:\n    outputs["late"]\nexcept KeyError:\n    pass');
    const one = naming("one", "fetch").code as string;
    expect(await found(fetch, asking, expecting, mapStep("ticket.rows", one), naming("late", "each"))).toEqual([]);
  });

  it.each<[string, Step[], string]>([
    ["no node has the id", [naming("a", "fetsch")], 'there is no node "fetsch" - did you mean "fetch"?'],
    ["the node's id is cut off in the code", [naming("a", "fe")], 'there is no node "fe" - did you mean "fetch"?'],
    ["no node has a similar id", [naming("a", "x")], 'there is no node "x" - name one of "start", "fetch"'],
    [
      "the node comes after the code",
      [naming("a", "late"), codeStep("late", "pass")],
      '"late" (in the workflow) does not run before "a" - name one of "start", "fetch"',
    ],
    [
      "the node is in a map, and the code is not",
      [mapStep("ticket.rows", "pass"), naming("a", "one")],
      '"one" (in the body of "each") does not run before "a" - name one of "start", "fetch", "each"',
    ],
  ])("cause a finding if %s", async (_how, steps, message) => {
    expect(await found(fetch, ...steps)).toEqual([`node "a": line 1: ${message}`]);
  });
});

describe("an import of a Python module", () => {
  const importing = async (code: string, more: object = {}) => {
    const text = JSON.stringify({
      ...{
        id: "imports",
        ...more,
        edges: [
          { from: "start", to: "a" },
          { from: "a", to: "end" },
        ],
      },
      nodes: [{ id: "start", type: "start" }, codeStep("a", code), { id: "end", type: "end" }],
    });
    const { findings } = await compileWorkflow({ text, fileName: "a.json", files: { "lib/own.py": "import reqests" } });
    return findings.map(({ code: found, severity, message }) => `${found} ${severity} ${message}`);
  };
  const inLib =
    'NOVA608 warning module "lib/own.py": line 1: nothing provides the module "reqests" - add its package to "requirements" of the workflow, or did you mean "requests"?';

  it("causes a finding with a suggestion in nodes and in `lib` if the module is unknown", async () => {
    expect(await importing("import csv, pandsa\nimport numpy, own, fitz")).toEqual([
      'NOVA608 warning node "a": line 1: nothing provides the module "pandsa" - add its package to "requirements" of the workflow, or did you mean "pandas"?',
      inLib,
    ]);
  });

  it.each([
    [
      "inside a try with `except ImportError`",
      "try:\n    import ujson\nexcept ImportError:\n    import json as ujson",
      {},
    ],
    [
      "if its package is in the requirements",
      "import bs4, sklearn",
      { requirements: ["beautifulsoup4>=4", "scikit-learn"] },
    ],
    ["if an unknown requirement may provide it", "import acme", { requirements: ["company-tools"] }],
    ["if it is only part of a text", 'context["a"] = """\nimport pandsa\n"""', {}],
  ])("causes no finding %s", async (_how, code, more) => {
    expect((await importing(code, more)).filter((one) => one !== inLib)).toEqual([]);
  });

  it("causes a finding only if it seems misspelt, because a requirement with unknown modules may provide any other module", async () => {
    expect(await importing("import pandsa", { requirements: ["company-tools"] })).toHaveLength(2);
  });
});

const definitionOf = (nodes: number) => JSON.stringify(toStateMachine(chainOf(nodes)));

describe("the size of a state machine, checked by checkSize,", () => {
  it("causes no finding up to the limit of Step Functions, which counts bytes and not characters", () => {
    expect(checkSize("x".repeat(definitionLimitBytes), 10)).toEqual([]);
    expect(checkSize(`${"x".repeat(definitionLimitBytes - 1)}€`, 10)).toHaveLength(1);
  });

  it("causes a finding above the limit of Step Functions, and the finding names the number of nodes that fit", () => {
    const [found] = checkSize(definitionOf(2000), 2000);
    expect(found).toMatchObject({ code: "NOVA701", severity: "error", path: "$.nodes" });
    const fitting = Number(/about (\d+) nodes/.exec(found?.message ?? "")?.[1]);
    expect(Buffer.byteLength(definitionOf(fitting - 5))).toBeLessThanOrEqual(definitionLimitBytes);
    expect(Buffer.byteLength(definitionOf(fitting + 20))).toBeGreaterThan(definitionLimitBytes);
  });
});

/**
 * The nodes `start`, `a`, `d`, `e` and `end` in a row. A loop leads from `d` back to `a` at most `max` times. Another
 * loop leads from `e` back to `a` at most `outer` times.
 */
function loops(max: number, outer: number) {
  return workflow(
    [start(), action("a"), decision("d"), decision("e"), end()],
    [
      ...["start -> a", "a -> d", `d -> a : "again", max ${max}`, 'd -> e : "default"'],
      ...[`e -> a : "again", max ${outer}`, 'e -> end : "default"'],
    ],
  );
}

it("checkEvents gives no warning about a loop outside branches and maps, because it can continue in a further execution", () => {
  expect(checkEvents(loops(40, 40))).toEqual([]);
  expect(checkEvents(loops(1000, 1000))).toEqual([]);
});

const row = ["a", "b", "c", "d"].map((id) => action(id));
const round = (decision: string, max: number) => [
  ...["a -> b", "b -> c", "c -> d", `d -> ${decision}`, `${decision} -> a : "again", max ${max}`],
];

const inMap = (max: number, outer = 1) => {
  const each = body([...row, decision("e"), end("done")], [...round("e", max), 'e -> done : "default"']);
  const again = [`x -> m : "again", max ${outer}`, 'x -> end : "default"'];
  return workflow([start(), map("m", each), decision("x"), end()], ["start -> m", "m -> x", ...again]);
};
const inBranch = (max: number) =>
  workflow(
    [start(), ...row, decision("e"), action("f"), end()],
    ["start -> a", "start -> f", ...round("e", max), 'e -> end : "default"', "f -> end"],
  );

it.each<[string, (max: number) => ReturnType<typeof workflow>]>([
  ["in the body of a map", inMap],
  ["in the body of a map that is itself in a loop", (max) => inMap(max, 100)],
  ["in a branch of a fork", inBranch],
])("checkEvents warns of a loop with very many rounds if it is %s", (_, whole) => {
  expect(checkEvents(whole(300))).toEqual([]);
  const found = checkEvents(whole(1000));
  expect(found).toMatchObject([{ code: "NOVA702", severity: "warning", path: "$.edges" }]);
  expect(found[0]?.message).toMatch(
    /^a run may make up to 2\d,\d{3} events, .* the loop from "e" to "a", up to 1000 times, makes most of them - /,
  );
});

it("checkEvents warns of a loop if a single round is too long for one history of Step Functions", () => {
  const ids = ["b", "c", "d", "e"];
  const days = ids.map((id) => action(id, { timeoutSeconds: 24 * 3600, effects: false }));
  const whole = workflow(
    [start(), ...days, decision("x"), end()],
    ["start -> b", "b -> c", "c -> d", "d -> e", "e -> x", 'x -> b : "again", max 3', 'x -> end : "default"'],
  );
  const [found] = checkEvents(whole);
  expect(found?.message).toMatch(/one round of the loop from "x" to "b" is too long - move part of it/);
});
