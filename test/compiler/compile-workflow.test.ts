import { compileWorkflow } from "@nova/compiler";
import { readWorkflowSource, type WorkflowSource } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { compileSent } from "../../packages/compiler/src/compile-sent.ts";
import { aslErrors } from "./support/states.ts";

const hello = new URL("../../packages/templates/hello", import.meta.url).pathname;

describe("compileWorkflow", () => {
  it("builds a state machine that asl-validator accepts", async () => {
    const { workflow, stateMachine, definition, findings } = await compileWorkflow(await readWorkflowSource(hello));
    expect(findings).toEqual([]);
    expect(workflow?.id).toBe("hello");
    expect(stateMachine && (await aslErrors(stateMachine))).toBe("");
    expect(JSON.parse(definition ?? "")).toEqual(stateMachine);
  });

  it.each([
    ["NOVA601", "action", "x = (1", /node "work": line 1: Python cannot read this/],
    [
      "NOVA602",
      "action",
      "context['a'] = 1\ncontext['b'] = totl",
      /node "work": line 2: the name "totl" is not defined/,
    ],
    ["NOVA603", "decision", 'context["decision"] = True', /node "work" never decides/],
    ["NOVA502", "action", 'context["$a"] = 1', /node "work": line 1: the key "\$a" is reserved for NOVA/],
  ])("reports a finding about the Python code: %s", async (code, type, python, message) => {
    const { findings, definition } = await compileWorkflow(sourceWith(type, python));
    expect(findings).toEqual([expect.objectContaining({ code, severity: "error", file: "work.py" })]);
    expect(findings[0]?.message).toMatch(message);
    expect(findings[0]?.path).toMatch(/^\$\.nodes\[1\]/);
    expect(definition).toBeUndefined();
  });

  it.each([
    ["NOVA604", "action", "import ssl as context"],
    ["NOVA606", "action", "context['branch_decision'] = True"],
    ["NOVA606", "decision", "context['branch_decision'] = True; context['error'] = 1"],
  ])("warns of a possible mistake, but still compiles the workflow: %s", async (code, type, python) => {
    const { findings, definition } = await compileWorkflow(sourceWith(type, python));
    expect(findings).toEqual([expect.objectContaining({ code, severity: "warning", file: "work.py", line: 1 })]);
    expect(definition).toBeDefined();
  });

  it("accepts the names that NOVA provides in the code of a node, but not in a module of `lib`", async () => {
    const source = sourceWith("action", "context['x'] = json.dumps(outputs['a']) + str(base64)");
    source.files["lib/total.py"] = "def total():\n    return context['total']\n";
    const { findings } = await compileWorkflow(source);
    expect(findings).toEqual([expect.objectContaining({ code: "NOVA602", file: "lib/total.py", line: 2 })]);
  });

  it("reports findings about the graph and about the Python code together", async () => {
    const source = sourceWith("action", "context['x'] = totl");
    source.text = source.text.replace('"to":"end"', '"to":"ende"');
    const { findings } = await compileWorkflow(source);
    expect(findings.map((one) => one.code)).toEqual(expect.arrayContaining(["NOVA206", "NOVA602"]));
  });

  it("refuses a state machine that is too large for Step Functions", async () => {
    const count = 1_300;
    const ids = Array.from({ length: count }, (_, index) => `n${index}`);
    const path = ["start", ...ids, "end"];
    const text = JSON.stringify({
      id: "huge",
      nodes: path.map((id) => ({ id, type: typeOf(id), ...(typeOf(id) === "action" && { codeFile: "work.py" }) })),
      edges: path.slice(1).map((to, index) => ({ from: path[index], to })),
    });
    const { findings } = await compileWorkflow({ text, fileName: "huge.json", files: { "work.py": "pass" } });
    expect(findings.map((one) => one.code)).toEqual(["NOVA701"]);
  });
});

function typeOf(id: string): string {
  return id === "start" || id === "end" ? id : "action";
}

function sourceWith(type: string, python: string): WorkflowSource {
  const condition = type === "decision" ? { condition: "default" } : {};
  const text = JSON.stringify({
    id: "sample",
    nodes: [
      { id: "start", type: "start" },
      { id: "work", type, codeFile: "work.py" },
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "work" },
      { from: "work", to: "end", ...condition },
    ],
  });
  return { text, fileName: "workflow.json", files: { "work.py": python } };
}

function sent(fields: object, code = 'context["a"] = 1') {
  const nodes = [
    { id: "start", type: "start" },
    { id: "add", type: "action", code },
    { id: "end", type: "end" },
  ];
  const edges = [
    { from: "start", to: "add" },
    { from: "add", to: "end" },
  ];
  return { text: JSON.stringify({ name: "sums", nodes, edges, ...fields }), fileName: "workflow.json", files: {} };
}

describe("a workflow definition that a client sends to a server", () => {
  it("compiles to the same state machine as a local definition", async () => {
    const source = sent({ inputs: { properties: { b: { type: "number" } } } });
    expect(await compileSent(source)).toEqual(await compileWorkflow(source));
  });

  it("is not compiled and causes a finding if the code of a node is a sum of 760 KB", async () => {
    const { findings } = await compileSent(sent({}, `x = ${Array(380_000).fill("1").join("+")}`));
    const message = expect.stringMatching(
      /^node "add": the code has 760,003 characters, at most 200,000 are checked - /,
    );
    expect(findings).toMatchObject([{ code: "NOVA607", path: "$.nodes[1].code", message }]);
  });

  it("is not compiled and causes a finding if its JSON schema has too many nested alternatives", async () => {
    let inputs: object = { required: ["a"] };
    for (let level = 0; level < 200; level++) inputs = { anyOf: [inputs, { required: ["b"] }] };
    const { findings } = await compileSent(sent({ inputs }));
    const message = expect.stringMatching(/^inputs: the schema goes more than 60 levels deep - /);
    expect(findings).toMatchObject([{ code: "NOVA501", message }]);
  });

  it("does not block the event loop of the server while it is checked", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await compileSent(sent({}, "context['a'] = 1\n".repeat(10_000)));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  it("causes a limited list of findings, with errors before warnings and the number of findings that are left out", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`field${i}`, 1]));
    const { findings, workflow } = await compileSent(sent(unknown));
    expect(workflow).toBeUndefined();
    expect(findings).toHaveLength(501);
    expect(findings.at(-1)).toMatchObject({ code: "NOVA115", message: expect.stringContaining("2,500 findings more") });
  });
});
