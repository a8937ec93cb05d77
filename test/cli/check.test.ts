import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nova } from "./support/nova.ts";

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "nova-check-"));
  await mkdir(join(cwd, "flow", "nodes"), { recursive: true });
  await mkdir(join(cwd, "flow", "lib"));
  const files: Record<string, string> = {
    "good.py": 'context["gross"] = context["total"] * 1.19',
    "wrong.py": 'context["gross"] = context["totl"] * 1.19',
    "decides.py": 'context["branch_decision"] = "yes"',
    "doubt.py": 'context["name"] = context["total"], context.get("totl")',
    "context.json": '{"total": 5}',
    "list.json": "[1]",
    "broken.json": "{",
    "flow/workflow.json": '{"requirements": ["pyyaml"]}',
    "flow/lib/mails.py": "",
    "flow/nodes/read.py": "import mails, yaml\ncontext['a'] = yaml.safe_load(mails.text)",
    "flow/nodes/lost.py": "import tensorflow\ncontext['a'] = str(tensorflow)",
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(cwd, name), text)));
  await writeFile(join(cwd, "latin1.py"), Buffer.from("# caf\u00e9", "latin1"));
});

afterAll(() => rm(cwd, { recursive: true }));

describe("nova check", () => {
  it("accepts valid code", async () => {
    const ended = await nova(cwd, "check", "good.py", "--context", "context.json");
    expect(ended).toEqual({ code: 0, stdout: "good.py is valid\n", stderr: "" });
  });

  it("lists findings with their lines and columns", async () => {
    const { code, stdout } = await nova(cwd, "check", "wrong.py", "--context", "context.json");
    expect(code).toBe(2);
    expect(stdout.split("\n")).toEqual([
      'error PY110 the context has no key "totl" - did you mean "total"?',
      "  at wrong.py:1:28",
      "wrong.py is not valid",
      "",
    ]);
  });

  it("prints one JSON object if the option --json is given", async () => {
    const { code, stdout } = await nova(cwd, "check", "wrong.py", "--context", "context.json", "--json");
    const message = 'the context has no key "totl" - did you mean "total"?';
    expect({ code, ...JSON.parse(stdout) }).toEqual({
      code: 2,
      valid: false,
      findings: [{ code: "PY110", line: 1, column: 28, message }],
      warnings: [],
    });
  });

  it("accepts code with a warning, and prints the warning", async () => {
    const { code, stdout } = await nova(cwd, "check", "doubt.py", "--context", "context.json", "--json");
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 0,
      valid: true,
      findings: [],
      warnings: [{ code: "PY112" }],
    });
  });

  it("does not check the keys that code reads if no context is given", async () => {
    expect((await nova(cwd, "check", "wrong.py")).code).toBe(0);
  });

  it("checks the code of a decision against the conditions of the node's edges", async () => {
    const codes = async (...args: string[]) => {
      const { findings } = JSON.parse((await nova(cwd, "check", "--json", ...args)).stdout);
      return findings.map((finding: { code: string }) => finding.code);
    };
    expect(await codes("good.py", "--node-type", "decision")).toEqual(["PY130"]);
    expect(await codes("decides.py", "--node-type", "decision", "--edges", "yes,no")).toEqual([]);
    expect(await codes("decides.py", "--edges", "yes, no")).toEqual([]);
  });

  it("finds the modules in lib/ and the requirements of the workflow that contains the file", async () => {
    expect((await nova(cwd, "check", "flow/nodes/read.py")).stdout).toBe("flow/nodes/read.py is valid\n");
    expect((await nova(cwd, "check", "flow/nodes/lost.py")).stdout).toContain('no module "tensorflow"');
  });
});

describe("nova check with wrong arguments", () => {
  it.each([
    [["nowhere.py"], 'there is no readable file "nowhere.py" - name the Python of a node'],
    [["latin1.py"], '"latin1.py" is not UTF-8 text - save it as UTF-8'],
    [
      ["good.py", "--node-type", "start"],
      "--node-type start is not a type of node with code - write action or decision",
    ],
    [["good.py", "--edges", "true,"], '--edges "true," has an empty condition - write --edges true,false'],
    [["good.py", "--context", "list.json"], 'context file "list.json" has no JSON object - write {"key": value}'],
    [["good.py", "--context", "none.json"], 'context file "none.json" cannot be read - name a readable JSON file'],
  ])("ends with one sentence for %j: %s", async (args, sentence) => {
    expect(await nova(cwd, "check", ...args)).toEqual({ code: 2, stdout: "", stderr: `nova: ${sentence}\n` });
  });

  it("ends with one sentence for a context that is not JSON", async () => {
    const { code, stderr } = await nova(cwd, "check", "good.py", "--context", "broken.json", "--json");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^nova: context file "broken.json" is not JSON .+\n$/),
    });
  });
});
