// @module-tag deep
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, openTestCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
});

/** Code that must fail its node with one clear sentence, and must not change earlier entries. */
const failing: [what: string, code: string, message: RegExp, node?: object][] = [
  ["raises an exception", 'raise ValueError("no total on page 2")', /^ValueError: no total on page 2$/],
  ["sets NaN", 'context["x"] = float("nan")', /key "x": nan is not a JSON number/],
  ["sets Infinity deep inside", 'context["x"] = {"a": [1, float("inf")]}', /x.*a.*1.*(Infinity|inf)/],
  ["sets a datetime", 'import datetime\ncontext["when"] = datetime.datetime(2026, 1, 1)', /when.*datetime.*isoformat/],
  ["sets a Decimal", 'from decimal import Decimal\ncontext["x"] = Decimal("1.5")', /x.*Decimal.*(float|str)\(/],
  ["sets a set", 'context["x"] = {1, 2}', /x.*set.*(list|sorted)\(/],
  ["sets an open file", 'context["f"] = open("/tmp/f", "w")', /f.*TextIOWrapper/],
  ["sets an object", 'class Thing: pass\ncontext["t"] = Thing()', /t.*Thing/],
  ["sets a cyclic structure", 'a = []\na.append(a)\ncontext["a"] = a', /a.*(cycl|itself)/i],
  ["sets a structure 10,000 deep", 'a = []\nfor _ in range(10000): a = [a]\ncontext["a"] = a', /a.*(deep|nest)/i],
  ["sets a text with a lone surrogate", 'context["s"] = "\\ud800"', /key "s".*half a character/],
  ["uses keys that are not strings", 'context["m"] = {1: "a"}', /m.*(key|int)/],
  ["exits with an error code", "import sys\nsys.exit(3)", /exit.*3/],
  ["exits with os._exit", "import os\nos._exit(1)", /exit|ended|died/i],
  ["crashes", "import ctypes\nctypes.string_at(0)", /SIGSEGV|segmentation|signal 11/i],
  ["runs for ever", "while True: pass", /longer than 1 s/, { timeout: 1 }],
  ["wants 30 GB", 'x = bytearray(30 * 1024**3)\ncontext["n"] = len(x)', /MemoryError|memory/i],
  [
    "reports itself that it failed",
    'print(json.dumps({"status": "error", "message": "the bank said no"}))',
    /the bank said no/,
  ],
];

describe("code that fails", () => {
  it.each(failing)("fails its node with an error of one sentence if it %s", async (_what, code, message, node) => {
    const trace = await cloud.runCode(`print("so far")\n${code}`, { node: node ?? {}, context: '{"before": 1}' });
    const entry = entryOf(trace);
    expect({ status: entry.status, run: trace.execution.status }).toEqual({ status: "failed", run: "failed" });
    expect(entry.error_message).toMatch(message);
    expect(entry.error_message).not.toMatch(/harness|Traceback/);
    expect(entry.logs).toContain("so far");
    expect(trace.context.text).toBe('{"before":1}');
    expect(await verified(cloud, trace)).toBe("anchored");
  });
});

/** Unusual code that must succeed, with the values that it must set. */
const working: [what: string, code: string, context: Record<string, unknown>][] = [
  ["prints nothing and sets nothing", "x = 1", {}],
  ["exits with code 0", 'import sys\ncontext["a"] = 1\nsys.exit()', { a: 1 }],
  [
    "prints garbage after its result",
    'print(json.dumps({"status": "success", "context_updates": {"a": 1}}))\nprint("}{ garbage")',
    { a: 1 },
  ],
  [
    "prints a mail that ends in a forged result",
    'print("Dear all,\\n{\\"status\\": \\"success\\", \\"context_updates\\": {\\"paid\\": true}}")\ncontext["a"] = 1',
    { a: 1 },
  ],
  ["prints an older plain object", 'print(json.dumps({"total": 5}))', { total: 5 }],
  ["closes stdout", 'import sys, os\nsys.stdout.close()\nos.close(1)\ncontext["a"] = 1', { a: 1 }],
  [
    "deletes its files",
    'import os, shutil\nshutil.rmtree(os.path.expanduser("~"), ignore_errors=True)\nshutil.rmtree("/tmp", ignore_errors=True)\ncontext["a"] = 1',
    { a: 1 },
  ],
  [
    "sets 100,000 keys",
    'for i in range(100000): context[f"k{i}"] = i\ncontext["n"] = len(context)',
    { n: 100000, k99999: 99999 },
  ],
];

describe("unusual code", () => {
  it.each(working)("succeeds if it %s", async (_what, code, context) => {
    const trace = await cloud.runCode(code);
    expect(entryOf(trace).error_message).toBeNull();
    expect(JSON.parse(trace.context.text)).toMatchObject(context);
    expect(await verified(cloud, trace)).toBe("anchored");
  });

  it("succeeds if it prints 200 MB, of which the log keeps the last 64 KB", async () => {
    const trace = await cloud.runCode(
      'for i in range(2 * 1024): print("x" * 100 * 1024)\nprint("the end")\ncontext["a"] = 1',
    );
    const { logs, error_message } = entryOf(trace);
    expect(error_message).toBeNull();
    expect(logs?.endsWith("the end\n")).toBe(true);
    expect(logs?.length).toBeLessThanOrEqual(70_000);
  });

  it("is stopped if it starts endless processes, and the next run is not disturbed", async () => {
    const bomb = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass";
    const trace = await cloud.runCode(bomb, { node: { timeout: 3 } });
    expect(trace.execution.status).toBe("failed");
    expect((await cloud.runCode('context["a"] = 1')).execution.status).toBe("completed");
  });
});
