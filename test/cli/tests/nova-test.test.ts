import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { askCloud } from "../../../packages/cli/src/api/ask.ts";
import { testIn } from "../../../packages/cli/src/commands/test.ts";
import { readFiles } from "../../../packages/cli/src/input/context.ts";
import { recordTest } from "../../../packages/cli/src/tests/add-test.ts";
import { testRunner } from "../../../packages/cli/src/tests/test-cloud.ts";
import { openTestCloud, type TestCloud } from "../../support/cloud.ts";
import { action, between, ways } from "../../support/forked.ts";
import { newFolder, startNova } from "../support/nova.ts";
import { Terminal } from "../support/terminal.ts";

let cwd: string;
let cloud: TestCloud;
beforeAll(async () => {
  cwd = await newFolder();
  cloud = await openTestCloud();
  vi.stubEnv("NO_COLOR", "1");
});
beforeEach(() => process.chdir(cwd));
afterAll(async () => {
  await cloud.close();
  await rm(cwd, { recursive: true, force: true });
});

const live = { effects: false };
/** Code that sets another value in each run. If a run has the recorded value, its code did not run. */
const dice = (key: string) => `import uuid\ncontext['${key}'] = str(uuid.uuid4())`;

async function write(definition: { id?: string }): Promise<string> {
  const id = definition.id ?? "";
  await mkdir(join(cwd, id), { recursive: true });
  await writeFile(join(cwd, id, "workflow.json"), JSON.stringify(definition));
  return id;
}

/** Runs a workflow and makes a test of the run, as `nova run` and `nova test add` do. */
async function record(definition: object, name: string, context: string, files: string[] = []): Promise<void> {
  await write(definition);
  const { execution } = await cloud.run(await cloud.publish(definition), context, await readFiles(files));
  const asked = { execution: execution.id, name, folder: undefined, loosen: false };
  await askCloud(cloud, (nova) => recordTest(nova, asked, (work) => work(testRunner(cloud))));
}

type Outcomes = Record<string, { set?: object; decision?: string }>;

/**
 * Writes a workflow and a test with these outcomes. `nova test add` would write the same test after a run, but takes
 * longer.
 */
async function writeTest(
  definition: { id?: string; nodes?: { id: string; code?: string }[] },
  name: string,
  { input = {}, outcomes, path }: { input?: object; outcomes: Outcomes; path?: string[] },
): Promise<void> {
  const id = await write(definition);
  const coded = (definition.nodes ?? []).flatMap(({ id, code }) => (code === undefined ? [] : [[id, hashOf(code)]]));
  const context = Object.assign({}, input, ...Object.values(outcomes).map(({ set }) => set));
  const expected = { status: "completed", path: path ?? ["start", ...Object.keys(outcomes), "end"], context };
  const fixture = { format: 1, workflow: id, input, code: Object.fromEntries(coded), outcomes, expect: expected };
  await rm(join(cwd, id, "tests"), { recursive: true, force: true });
  await mkdir(join(cwd, id, "tests"));
  await writeFile(join(cwd, id, "tests", `${name}.json`), JSON.stringify(fixture));
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex").slice(0, 16);
}

/** Runs `nova test` in a cloud that all tests in this file share, because opening a cloud takes longer than a test. */
async function test(id: string, { update = false, junit }: { update?: boolean; junit?: string } = {}) {
  const terminal = new Terminal();
  const { json, text, code } = await terminal.run(() => testIn(testRunner(cloud), id, { update, junit }));
  return { code, text, stderr: terminal.stderr, ...JSON.parse(json as string) };
}
const update = { update: true };

const fixture = async (id: string, name: string) =>
  JSON.parse(await readFile(join(cwd, id, "tests", `${name}.json`), "utf8"));
async function edit(id: string, name: string, change: (test: Awaited<ReturnType<typeof fixture>>) => void) {
  const test = await fixture(id, name);
  change(test);
  await writeFile(join(cwd, id, "tests", `${name}.json`), JSON.stringify(test));
}

const all = (passed: number) => ({ code: 0, stderr: "", passed, failed: 0, stale: 0 });
const only = (status: string, first_difference: object | null) => ({ items: [{ status, first_difference }] });

const row = (sum: string, send = dice("sent"), more: object = {}) =>
  between(
    "row",
    [action("sum", sum, live), action("send", send, more), action("after", "context['last'] = context['sent']", live)],
    ways("start > sum > send > after > end"),
  );

const sum = "context['total'] = sum(context['list'])";

/**
 * Writes the workflow `row` and its test for the list `[1]`. The value that the node `send` sets exists only in the
 * recorded outcomes of the test.
 */
function writeRow(name: string): Promise<void> {
  const outcomes = { sum: { set: { total: 1 } }, send: { set: { sent: "once" } }, after: { set: { last: "once" } } };
  return writeTest(row(sum), name, { input: { list: [1] }, outcomes });
}

describe("nova test", { timeout: 120_000 }, () => {
  it("names the first node with another outcome and its different keys, and exits with 1", async () => {
    await writeRow("bill");
    await write(row("context['total'] = sum(context['list']) + 1\ncontext['more'] = True"));
    const keys = [
      { key: "more", was: null, is: true },
      { key: "total", was: 1, is: 2 },
    ];
    const found = { place: "sum", message: '"sum" has another outcome', keys };
    const junit = join(cwd, "junit.xml");
    const { text, ...failed } = await test("row", { junit });
    expect(failed).toMatchObject({ code: 1, passed: 0, failed: 1, stale: 0, ...only("failed", found) });
    expect(text.join("\n")).toBe(
      'failed  bill\n  "sum" has another outcome\n    more\n      - (not set)\n      + true\n    total\n      - 1\n      + 2\n0 passed, 1 failed',
    );
    expect(await readFile(junit, "utf8")).toContain(
      '<failure type="failed" message="&quot;sum&quot; has another outcome">',
    );
    expect(await test("row", update)).toMatchObject({ ...all(1), ...only("updated", null) });
    expect((await fixture("row", "bill")).expect.context).toMatchObject({ total: 2, more: true });
    expect(await test("row")).toMatchObject(all(1));
  });

  it("reports a test as stale if the code of a recorded node has changed, and --update runs the new code without network", async () => {
    await writeRow("stale");
    await write(row(sum, "context['sent'] = 'as before'"));
    const message =
      'the code of node "send" was changed since its outcome was recorded - --update writes the current outcome';
    expect(await test("row")).toMatchObject({
      code: 1,
      passed: 0,
      stale: 1,
      ...only("stale", { place: "send", message }),
    });
    expect(await test("row", update)).toMatchObject(all(1));
    expect((await fixture("row", "stale")).outcomes.send.set).toEqual({ sent: "as before" });
    await write(row(sum, "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')\ncontext['sent'] = 2"));
    const { stderr, ...kept } = await test("row", update);
    expect(kept).toMatchObject({ code: 0, ...only("updated", null) });
    expect(stderr).toMatch(/keeps the recorded outcome of "send": its code fails without network and credentials/);
    expect((await fixture("row", "stale")).outcomes.send.set).toEqual({ sent: "as before" });
    expect(await test("row")).toMatchObject(all(1));
    await write(row(sum, "context['sent'] = 3", { effects: true }));
    await test("row", update);
    expect((await fixture("row", "stale")).outcomes.send.set).toEqual({ sent: "as before" });
  });

  it("reports a test as stale if a node is gone, and --update follows a renamed node", async () => {
    await writeRow("named");
    await write(JSON.parse(JSON.stringify(row(sum)).replaceAll('"send"', '"post"')));
    const message =
      'node "send" is not in the workflow any more: it is called "post" now - --update writes the current outcome';
    expect(await test("row")).toMatchObject({ code: 1, stale: 1, ...only("stale", { place: "send", message }) });
    expect(await test("row", update)).toMatchObject(all(1));
    const { outcomes, expect: expected, code } = await fixture("row", "named");
    expect(outcomes.post.set).toEqual({ sent: "once" });
    expect(expected.path).toEqual(["start", "sum", "post", "after", "end"]);
    expect(Object.keys(code)).toEqual(["sum", "post", "after"]);
    expect(await test("row")).toMatchObject(all(1));
  });

  it("fails if a node without a recorded outcome would have to run, and names the place of the node", async () => {
    await writeRow("new");
    const nodes = [action("sum", sum, live), action("call", dice("called")), action("send", dice("sent"))];
    await write(
      between(
        "row",
        [...nodes, action("after", "context['last'] = context['sent']", live)],
        ways("start > sum > call > send > after > end"),
      ),
    );
    const message = '"call" must not run, and has no recorded outcome';
    expect(await test("row")).toMatchObject({
      code: 1,
      failed: 1,
      ...only("failed", { place: "call", message, keys: [] }),
    });
    expect(await test("row", update)).toMatchObject(all(1));
    expect(Object.keys((await fixture("row", "new")).outcomes)).toEqual(["sum", "call", "send", "after"]);
  });

  it("repeats maps, loops, failures, waits and calls of workflows without their effects", {
    tags: ["deep"],
  }, async () => {
    await cloud.publish(between("inner", [action("one", dice("made"))], ways("start > one > end")));
    const square = action("square", "context['s'] = context['item'] ** 2", live);
    const send = action("send", dice("sent"));
    const definition = between(
      "whole",
      [
        { id: "bill", type: "workflow", workflow: "inner", output: { bill: "made" } },
        { id: "pause", type: "wait", seconds: 1 },
        {
          id: "poll",
          type: "decision",
          ...live,
          code: "context['n'] = context.get('n', 0) + 1\ncontext['branch_decision'] = context['n'] < 3",
        },
        {
          id: "each",
          type: "map",
          items: "list",
          as: "item",
          into: "all",
          nodes: [square, send],
          edges: ways("square > send"),
        },
        action("bad", "raise ValueError('no')", { onError: "sorry" }),
        action("sorry", "context['why'] = context['error']['message']", live),
      ],
      [
        ...ways("start > bill > pause > poll", "each > bad > end", "sorry > end"),
        { from: "poll", to: "poll", condition: true, max: 5 },
        { from: "poll", to: "each", condition: false },
      ],
    );
    await record(definition, "all", '{"list": [1, 2]}');
    expect(await test("whole")).toMatchObject(all(1));
    const { outcomes, expect: expected } = await fixture("whole", "all");
    expect(Object.keys(outcomes)).toEqual([
      "bill",
      "pause",
      "poll",
      "poll#2",
      "poll#3",
      "each[0].square",
      "each[0].send",
      "each[1].square",
      "each[1].send",
      "bad",
      "sorry",
    ]);
    expect(outcomes.bad).toEqual({ error: { class: "NodeFailed", message: "ValueError: no" } });
    expect(expected.decisions).toEqual({ poll: "true", "poll#2": "true", "poll#3": "false" });
    await edit("whole", "all", (test) => {
      test.outcomes["each[1].square"].set.s = 5;
    });
    expect(await test("whole")).toMatchObject({
      code: 1,
      failed: 1,
      ...only("failed", { place: "each[1].square", keys: [{ key: "s", was: 5, is: 4 }] }),
    });
  });

  it("stores bytes and large values in files, masks secrets, and escapes data that looks like a form such as `$any`", async () => {
    const code =
      "context['text'] = 'x' * 5000\ncontext['rows'] = [[i, 1.50] for i in range(500)]\ncontext['size'] = len(context['pdf'])\ncontext['data'] = {'$any': 1, '$blob': 2}\ncontext['copy'] = context['pdf']";
    const inputs = { properties: { password: { secret: true } } };
    const definition = {
      ...between(
        "files",
        [action("make", code, live), action("send", "context['data'] = {'$file': 'x'}")],
        ways("start > make > send > end"),
      ),
      inputs,
    };
    await writeFile(join(cwd, "some.pdf"), Buffer.from([0, 255, 1]));
    await record(definition, "f", '{"password": "hunter2"}', [`pdf=${join(cwd, "some.pdf")}`]);
    const text = await readFile(join(cwd, "files/tests/f.json"), "utf8");
    expect(text).not.toContain("hunter2");
    const { input, outcomes } = JSON.parse(text);
    const file = { $file: expect.stringMatching(/^f\/[0-9a-f]{16}\.bin$/) };
    expect(input).toMatchObject({ pdf: file });
    expect(outcomes.make.set).toEqual({
      text: { $text: expect.stringMatching(/^f\/[0-9a-f]{16}\.txt$/) },
      rows: { $json: expect.stringMatching(/^f\/[0-9a-f]{16}\.json$/) },
      size: 3,
      data: { $$any: 1, $$blob: 2 },
      copy: input.pdf,
    });
    expect(await test("files")).toMatchObject(all(1));
    await writeFile(join(cwd, "files/tests", outcomes.make.set.text.$text), "y");
    expect(await test("files")).toMatchObject({
      code: 1,
      items: [{ first_difference: { place: "make", keys: [{ key: "text" }] } }],
    });
  });

  it("ignores how far the other items of a map got before one item failed, because that depends on timing", {
    tags: ["deep"],
  }, async () => {
    // In the first run item 0 ends before item 1 fails; in the second run item 1 fails first.
    const item = (pause: number) =>
      action("item", `import time\ntime.sleep(0.2 if context["item"] else ${pause})\n1 / (1 - context["item"])`, live);
    const each = (pause: number) => ({
      id: "each",
      type: "map",
      items: "list",
      onError: "rescue",
      nodes: [item(pause), action("behind", "pass", live)],
      edges: ways("item > behind"),
    });
    const flow = (pause: number) =>
      between("chance", [each(pause), action("rescue", "pass", live)], ways("start > each > end", "rescue > end"));
    await record(flow(0), "stopped", '{"list": [0, 1]}');
    await write(flow(2));
    expect(await test("chance")).toMatchObject(all(1));
  });

  it("accepts every value that matches a form such as `$approx`, and names a Python expression that is not true", {
    tags: ["deep"],
  }, async () => {
    const code = "import time\ncontext['now'] = time.time()\ncontext['total'] = 850.004\ncontext['id'] = 'inv-7'";
    const outcomes = { make: { set: {} } };
    await writeTest(between("loose", [action("make", code, live)], ways("start > make > end")), "l", { outcomes });
    const loosen = (python: string) =>
      edit("loose", "l", (test) => {
        const set = {
          now: { $python: python },
          total: { $approx: 850, within: 0.01 },
          id: { $schema: { type: "string" } },
        };
        test.outcomes.make.set = set;
        test.expect.context = { now: { $any: true } };
      });
    await loosen("value > 1_000_000 and value == float(value)");
    expect(await test("loose")).toMatchObject(all(1));
    await loosen("value < 0");
    const differs = (expression: string) =>
      only("failed", { place: "make", keys: [{ key: "now", was: { $python: expression }, is: expect.any(Number) }] });
    expect(await test("loose")).toMatchObject({ code: 1, ...differs("value < 0") });
    await loosen("value.nothing");
    expect(await test("loose")).toMatchObject(
      differs("value.nothing (AttributeError: 'float' object has no attribute 'nothing')"),
    );
    await loosen("value > 0");
    await write(between("loose", [action("make", code.replace("850.004", "851.0"), live)], ways("start > make > end")));
    expect(await test("loose", update)).toMatchObject(all(1));
    const { outcomes: updated, expect: expected } = await fixture("loose", "l");
    expect(updated.make.set).toEqual({
      now: { $python: "value > 0" },
      total: 851.0,
      id: { $schema: { type: "string" } },
    });
    expect(expected.context).toEqual({ now: { $any: true } });
  });

  it("names the place where a run takes another path than the recorded run", async () => {
    const which = (limit: number) =>
      between(
        "turns",
        [
          { id: "which", type: "decision", code: `context['branch_decision'] = context['n'] > ${limit}` },
          action("high", "pass", live),
          action("low", "pass", live),
        ],
        [
          ...ways("start > which", "high > end", "low > end"),
          { from: "which", to: "high", condition: true },
          { from: "which", to: "low", condition: false },
        ],
      );
    const outcomes = { which: { decision: "false" }, high: {} };
    await writeTest(which(1), "t", { input: { n: 5 }, outcomes });
    expect(await test("turns")).toMatchObject({
      code: 1,
      ...only("failed", { place: "low", message: '"low" ran, but did not run when the test was recorded' }),
    });
    await edit("turns", "t", (test) => {
      test.outcomes = { which: { decision: "true" }, high: {} };
      test.expect = { status: "failed" };
    });
    expect(await test("turns")).toMatchObject(
      only("failed", { place: null, message: "the run has the status completed, not failed" }),
    );
  });
});

describe("nova test --watch", { timeout: 120_000, tags: ["deep"] }, () => {
  it("runs the tests again when a file changes, until the user ends the command", async () => {
    await writeRow("w");
    const watching = startNova(cwd, "test", "row", "--watch");
    await watching.line("1 passed");
    await watching.line("waiting for a change");
    await write(row("context['total'] = 2"));
    await watching.line("0 passed, 1 failed");
    watching.child.kill("SIGINT");
    expect((await watching.ended).code).toBe(0);
  });
});

describe("nova test refuses in one sentence", { timeout: 120_000 }, () => {
  const refusal = (path: string) => test(path).catch(({ name, message }) => `${name}: ${message}`);

  it("a folder without tests and an invalid test", async () => {
    expect(await refusal("nowhere")).toMatch(/"nowhere" is not a workflow folder/);
    await write(row(sum));
    await rm(join(cwd, "row/tests"), { recursive: true, force: true });
    expect(await refusal("row")).toMatch(/^InvalidInput: "row" has no tests - nova test add <execution> makes one/);
    await mkdir(join(cwd, "row/tests"), { recursive: true });
    const good = { format: 1, workflow: "row", input: {}, outcomes: {}, expect: {} };
    const bad: [unknown, RegExp][] = [
      ["{", /"row\/tests\/x\.json" is not a valid test: it is not JSON/],
      [{ ...good, format: 2 }, /format: it is 1/],
      [{ ...good, outcome: {} }, /outcome/],
      [{ ...good, workflow: "other" }, /the test "x" belongs to workflow "other"/],
      [{ ...good, input: { a: { $any: true } } }, /its input has a form/],
      [{ ...good, expect: { context: { a: { $like: "b" } } } }, /there is no form "\$like" - use one of/],
      [{ ...good, input: { a: { $file: "../../secret" } } }, /there is no file|leads out of the folder/],
      [{ ...good, input: { a: { $file: "x/none.bin" } } }, /there is no file "x\/none\.bin"/],
    ];
    for (const [content, sentence] of bad) {
      await writeFile(join(cwd, "row/tests/x.json"), typeof content === "string" ? content : JSON.stringify(content));
      expect(await refusal(join(cwd, "row"))).toMatch(
        sentence instanceof RegExp ? new RegExp(sentence.source.replace('"row', '".*row')) : sentence,
      );
    }
  });

  it("a test with a form such as `$any` in a recorded outcome", async () => {
    await writeRow("a");
    await edit("row", "a", (test) => {
      test.outcomes.send.set.sent = { $any: true };
    });
    expect(await test("row")).toMatchObject({
      code: 1,
      failed: 1,
      items: [
        {
          first_difference: { message: expect.stringMatching(/uses the recorded outcome of "send", which has a form/) },
        },
      ],
    });
  });
});
