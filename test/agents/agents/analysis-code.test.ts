// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { analysisProgram, extractAnalysis } from "../../../packages/agents/src/agents/analyzers.ts";

const python = process.env.NOVA_PYTHON ?? "python3";
const harness = fileURLToPath(new URL("../../../packages/sandbox/python", import.meta.url));

/**
 * The Python source of a process that runs a program on a context of the harness. `Supply` stands in for the store of
 * blobs and records each fetch.
 */
const around = `
import base64, json, sys
sys.path.insert(0, ${JSON.stringify(harness)})
from nova_harness.context import make_context
from nova_harness.runner import collect
from nova_harness.encode import Encoder

class Supply:
    class loaded:
        reference = staticmethod(lambda value: None)
        note = staticmethod(lambda value, reference: None)
    fetched = []
    def blob(self, reference):
        self.fetched.append(reference["sha256"])
        return b'["large", "list"]'
class Printed:
    is_explicit, updates, is_used = False, {}, False

supply = Supply()
slots = json.loads(sys.argv[1])
loaded = make_context([tuple(slot) for slot in slots], supply)
program = sys.stdin.read()
main = {"__name__": "__main__", "context": loaded.values, "outputs": {}, "json": json, "base64": base64}
exec(compile(program, "nodes/work.py", "exec"), main)
changes, blobs = collect(loaded, Printed(), Encoder(known=supply.loaded), supply)
print()
print(json.dumps({"changes": changes, "blobs": len(blobs), "fetched": len(supply.fetched)}))
`;

const large = { $blob: { sha256: "a".repeat(64), bytes: 17, type: "json" } };

async function analyse(code: string, context: Record<string, unknown> = { total: 1500, lines: [{ sku: "A" }], large }) {
  const slots = Object.entries(context).map(([key, value]) => [key, JSON.stringify(value)]);
  const running = promisify(execFile)(python, ["-c", around, JSON.stringify(slots)]);
  running.child.stdin?.end(analysisProgram(code));
  const { stdout } = await running;
  const { changes, ...rest } = JSON.parse(stdout.trim().split("\n").at(-1) as string);
  const [[key, text], ...others] = changes.set;
  return { key, answer: JSON.parse(text), others, deleted: changes.delete, stdout, ...rest };
}

describe("a Python program that runs an analysis", () => {
  it.each([
    ["the variable `result` of the analysis", 'result = {"pages": 2}', { pages: 2 }],
    [
      "the last dict that the analysis printed as JSON",
      'print("x")\nprint(json.dumps({"a": 1}))\nprint(json.dumps({"b": 2}))',
      { b: 2 },
    ],
    ["a dict that the analysis printed in Python's notation", "print({'a': None})", { a: null }],
    [
      "context updates that the analysis printed as JSON",
      'print(json.dumps({"status": "success", "context_updates": {"a": 1}}))',
      { a: 1 },
    ],
    ["the variable `result` of an analysis that exits afterwards", 'result = {"a": 1}\nraise SystemExit(0)', { a: 1 }],
    ["a result that is a list, and not a dict", "result = [1, 2]", [1, 2]],
    [
      "values that JSON cannot hold, converted to text or lists",
      'import datetime\nresult = {"d": datetime.date(2026, 1, 2), 3: {1}}',
      { d: "2026-01-02", 3: [1] },
    ],
    [
      "the size of many bytes in place of the bytes",
      'result = {"b": b"1" * 33, "n": float("nan")}',
      { b: "<bytes: 33 bytes>", n: "nan" },
    ],
    ["a few bytes in Python's notation", 'result = {"b": b"%PDF"}', { b: "b'%PDF'" }],
    [
      "a text with a lone surrogate, a line separator and an accent",
      'result = {"t": "\\ud800 \\u2028 é"}',
      { t: "? \u2028 é" },
    ],
  ])("returns the result of the analysis to the models: %s", async (_, code, expected) => {
    expect(await analyse(code)).toMatchObject({ key: "_data_analysis", answer: { result: expected }, others: [] });
  });

  it("undoes all changes that the analysis makes to the context", async () => {
    const code = `
import datetime
context["new"] = object()
context["lines"][0]["sku"] = datetime.date.today()
context["large"].append("more")
del context["total"]
result = {"n": len(context["large"])}`;
    expect(await analyse(code)).toMatchObject({ answer: { result: { n: 3 } }, others: [], deleted: [], blobs: 0 });
  });

  it("loads only the blobs of values that the analysis reads", async () => {
    expect(await analyse("result = {'n': 1}")).toMatchObject({ fetched: 0 });
    expect(await analyse("result = {'n': context['large'][0]}")).toMatchObject({ fetched: 1 });
  });

  it.each([
    ["that fails", 'x = context["nothing"]', "KeyError: 'nothing'", 'File "analysis.py", line 1'],
    ["that is not valid Python", "x = = 1", "SyntaxError: invalid syntax (analysis.py, line 1)", "x = = 1"],
    ["that sets no result and prints none", "x = 1", "LookupError: the code neither set result nor printed a dict", ""],
  ])("returns the error of an analysis %s", async (_, code, error, traceback) => {
    const { answer, others } = await analyse(code);
    expect(answer).toEqual({ error, traceback: expect.stringContaining(traceback) });
    expect(others).toEqual([]);
  });

  it.each([
    'result = {"t": "x" * 10**6}',
    'result = {str(n): "y" * 300 for n in range(1000)}',
    'result = {"rows": [{str(k): "z" * 100 for k in range(50)} for n in range(100)]}',
  ])("shortens a result that is too large for a prompt: %s", async (code) => {
    const { answer, blobs } = await analyse(code);
    expect(JSON.stringify(answer).length).toBeLessThan(5_100);
    expect(blobs).toBe(0);
  });

  it("prints the output of the analysis", async () => {
    expect((await analyse('print("looking")\nresult = {"a": 1}')).stdout).toContain("looking");
  });
});

describe("extractAnalysis", () => {
  it.each(['result = {"a": "\\n"}', "# \u2028 '''\n_nova_look(\"x\")\n", ""])(
    "returns the analysis that was put into a Python program: %j",
    (code) => {
      expect(extractAnalysis(analysisProgram(code))).toBe(code);
    },
  );

  it("returns null for code that is not a program for an analysis", () => {
    expect(extractAnalysis("context['a'] = 1\n")).toBeNull();
  });
});
