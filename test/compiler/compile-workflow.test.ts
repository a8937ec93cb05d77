import { compileWorkflow } from "@nova/compiler";
import { readWorkflowSource, type WorkflowSource } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { aslErrors } from "./support/asl-validator.ts";

const hello = new URL("../../packages/examples/hello", import.meta.url).pathname;

describe("compiling a source", () => {
  it("results in a state machine that asl-validator accepts", async () => {
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
  ])("reports a finding in Python: %s", async (code, type, python, message) => {
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
  ])("warns of a possible mistake and compiles it: %s", async (code, type, python) => {
    const { findings, definition } = await compileWorkflow(sourceWith(type, python));
    expect(findings).toEqual([expect.objectContaining({ code, severity: "warning", file: "work.py", line: 1 })]);
    expect(definition).toBeDefined();
  });

  it("takes the names of a node's code as given, and refuses them in a module of lib", async () => {
    const source = sourceWith("action", "context['x'] = json.dumps(outputs['a']) + str(base64)");
    source.files["lib/total.py"] = "def total():\n    return context['total']\n";
    const { findings } = await compileWorkflow(source);
    expect(findings).toEqual([expect.objectContaining({ code: "NOVA602", file: "lib/total.py", line: 2 })]);
  });

  it("collects findings in the graph together with findings in Python", async () => {
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
