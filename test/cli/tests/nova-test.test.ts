import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { action, between, ways } from "../../support/forked.ts";
import { newFolder, nova, startNova } from "../support/nova.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
  vi.stubEnv("NO_COLOR", "1");
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const live = { effects: false };
/** The code returns another value in each run, so an equal value proves that it did not run. */
const dice = (key: string) => `import uuid\ncontext['${key}'] = str(uuid.uuid4())`;

async function write(definition: { id?: string }): Promise<string> {
  const id = definition.id ?? "";
  await mkdir(join(cwd, id), { recursive: true });
  await writeFile(join(cwd, id, "workflow.json"), JSON.stringify(definition));
  return id;
}

async function record(definition: object, name: string, ...given: string[]): Promise<string> {
  const id = await write(definition);
  const { stdout } = await nova(cwd, "run", id, "--json", ...given);
  const { execution_id } = JSON.parse(stdout);
  expect(await nova(cwd, "test", "add", execution_id, "--name", name)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${id}/tests/${name}.json is now a test of ${id}, from ${execution_id}\n`),
  });
  return execution_id;
}

async function test(id: string, ...options: string[]) {
  const { code, stdout, stderr } = await nova(cwd, "test", id, "--json", ...options);
  return { code, stderr, ...(stdout === "" ? {} : JSON.parse(stdout)) };
}

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

describe("nova test", { timeout: 120_000 }, () => {
  const sum = "context['total'] = sum(context['list'])";

  it("runs nodes without effects and uses the record for the others", async () => {
    await record(row(sum), "bill", "--set", "list=[1, 2.50]");
    expect(await test("row")).toMatchObject({
      ...all(1),
      items: [{ name: "bill", status: "passed", first_difference: null }],
    });
    expect((await nova(cwd, "test", "row")).stdout).toBe("passed  bill\n1 passed\n");
  });

  describe("add", () => {
    const file =
      "import io, time, zipfile\nfile = io.BytesIO()\nwith zipfile.ZipFile(file, 'w') as z: z.writestr('a', str(time.time_ns()))\ncontext['file'] = file.getvalue()";
    const chancy = between(
      "chancy",
      [
        action("one", `${dice("id")}\n${file}\ncontext['same'] = 1`, live),
        action("two", "context['copy'] = context['id']", live),
      ],
      ways("start > one > two > end"),
    );
    const varies = [
      { node: "one", key: "file" },
      { node: "one", key: "id" },
      { node: "two", key: "copy" },
      { node: null, key: "copy" },
      { node: null, key: "file" },
      { node: null, key: "id" },
    ];
    let execution: string;

    it("prints no warning for a repeatable test", async () => {
      const id = await record(row(sum), "again", "--set", "list=[1]");
      await rm(join(cwd, "row", "tests", "again.json"));
      const { stdout } = await nova(cwd, "test", "add", id, "--name", "again");
      expect(stdout).toBe(`row/tests/again.json is now a test of row, from ${id}\n`);
      await rm(join(cwd, "row", "tests", "again.json"));
    });

    it("names the values that differ between runs, and the option to allow them", async () => {
      await write(chancy);
      execution = JSON.parse((await nova(cwd, "run", "chancy", "--json")).stdout).execution_id;
      const { code, stdout } = await nova(cwd, "test", "add", execution, "--name", "strict");
      expect([code, stdout]).toEqual([0, expect.stringContaining(`nova test add ${execution} --name strict --loosen`)]);
      expect(stdout).toMatch(/\n {2}one: file\n {2}one: id\n {2}two: copy\n {2}the context at the end: copy\n/);
      expect(await test("chancy")).toMatchObject({ code: 1, failed: 1 });
    });

    it("allows any value there with --loosen, and replaces the test", async () => {
      const { stdout } = await nova(cwd, "test", "add", execution, "--name", "strict", "--loosen", "--json");
      expect(JSON.parse(stdout)).toMatchObject({
        varies: varies.map((one) => ({ ...one, can_loosen: true })),
        loosened: true,
        note: null,
      });
      const { outcomes, expect: expected } = await fixture("chancy", "strict");
      expect(outcomes.one.set).toEqual({ id: { $any: true }, file: { $any: true }, same: 1 });
      expect(expected.context).toEqual({ id: { $any: true }, copy: { $any: true }, file: { $any: true }, same: 1 });
      expect(await test("chancy")).toMatchObject(all(1));
    });

    it("separates differences that no form allows: other keys and other errors", async () => {
      const keys = "import uuid\ncontext[str(uuid.uuid4())] = 1";
      const fails = `${dice("id")}\nraise ValueError(str(context['id']))`;
      const nodes = [action("keys", `${dice("id")}\n${keys}`, live), action("fails", fails, live)];
      await write(between("unlike", nodes, ways("start > keys > fails > end")));
      const run = await nova(cwd, "run", "unlike", "--json");
      const { execution_id } = JSON.parse(run.stdout);
      const add = ["test", "add", execution_id, "--name", "unlike", "--loosen"];
      const { varies } = JSON.parse((await nova(cwd, ...add, "--json")).stdout);
      expect(varies).toContainEqual({ node: "keys", key: "id", can_loosen: true });
      expect(varies).toContainEqual({ node: "fails", key: "error", can_loosen: false });
      expect(varies).toContainEqual({ node: "keys", key: expect.stringMatching(/^.{36}$/), can_loosen: false });
      const { outcomes } = await fixture("unlike", "unlike");
      expect(Object.values(outcomes.keys.set)).toEqual(expect.arrayContaining([{ $any: true }, 1]));
      const { stdout } = await nova(cwd, ...add);
      expect(stdout).toMatch(/the test now allows any value there\n {2}keys: id\n/);
      expect(stdout).toMatch(/because no form allows[^\n]*\n(?: {2}.*\n)* {2}fails: error\n/);
      await rm(join(cwd, "unlike"), { recursive: true });
    });

    it("keeps a test that could not run, and says why", async () => {
      await write(between("chancy", [action("one", "context['same'] = 2", live)], ways("start > one > end")));
      const { code, stdout } = await nova(cwd, "test", "add", execution, "--name", "other", "--json");
      expect([code, JSON.parse(stdout)]).toMatchObject([
        0,
        { varies: [], note: expect.stringMatching(/did not run: node "one"/) },
      ]);
    });
  });

  it("names the first different node key by key, and exits with 1", async () => {
    await write(row("context['total'] = sum(context['list']) + 1\ncontext['more'] = True"));
    const keys = [
      { key: "more", was: null, is: true },
      { key: "total", was: 3.5, is: 4.5 },
    ];
    const found = { place: "sum", message: '"sum" has another outcome', keys };
    expect(await test("row")).toMatchObject({ code: 1, passed: 0, failed: 1, stale: 0, ...only("failed", found) });
    const junit = join(cwd, "junit.xml");
    expect((await nova(cwd, "test", "row", "--junit", junit)).stdout).toBe(
      'failed  bill\n  "sum" has another outcome\n    more\n      - (not set)\n      + true\n    total\n      - 3.5\n      + 4.5\n0 passed, 1 failed\n',
    );
    expect(await readFile(junit, "utf8")).toContain(
      '<failure type="failed" message="&quot;sum&quot; has another outcome">',
    );
    expect(await test("row", "--update")).toMatchObject({ ...all(1), ...only("updated", null) });
    expect((await fixture("row", "bill")).expect.context).toMatchObject({ total: 4.5, more: true });
    expect(await test("row")).toMatchObject(all(1));
  });

  it("reports a test as stale if a recorded node has other code, and --update runs that code without network", async () => {
    await record(row(sum), "stale", "--set", "list=[1]");
    await rm(join(cwd, "row/tests/bill.json"));
    await write(row(sum, "context['sent'] = 'as before'"));
    const message =
      'the code of node "send" was changed since its outcome was recorded - --update writes the current outcome';
    expect(await test("row")).toMatchObject({
      code: 1,
      passed: 0,
      stale: 1,
      ...only("stale", { place: "send", message }),
    });
    expect(await test("row", "--update")).toMatchObject(all(1));
    expect((await fixture("row", "stale")).outcomes.send.set).toEqual({ sent: "as before" });
    await write(row(sum, "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1')\ncontext['sent'] = 2"));
    const { stderr, ...kept } = await test("row", "--update");
    expect(kept).toMatchObject({ code: 0, ...only("updated", null) });
    expect(stderr).toMatch(/keeps the recorded outcome of "send": its code fails without network and credentials/);
    expect((await fixture("row", "stale")).outcomes.send.set).toEqual({ sent: "as before" });
    expect(await test("row")).toMatchObject(all(1));
    await write(row(sum, "context['sent'] = 3", { effects: true }));
    await test("row", "--update");
    expect((await fixture("row", "stale")).outcomes.send.set).toEqual({ sent: "as before" });
  });

  it("reports a test as stale if a node is gone, and --update follows a renamed node", async () => {
    await record(row(sum), "named", "--set", "list=[1]");
    await rm(join(cwd, "row/tests/stale.json"));
    const renamed = JSON.stringify(row(sum)).replaceAll('"send"', '"post"');
    await write(JSON.parse(renamed));
    const { sent } = (await fixture("row", "named")).outcomes.send.set;
    const message =
      'node "send" is not in the workflow any more: it is called "post" now - --update writes the current outcome';
    expect(await test("row")).toMatchObject({ code: 1, stale: 1, ...only("stale", { place: "send", message }) });
    expect(await test("row", "--update")).toMatchObject(all(1));
    const { outcomes, expect: expected, code } = await fixture("row", "named");
    expect(outcomes.post.set).toEqual({ sent });
    expect(expected.path).toEqual(["start", "sum", "post", "after", "end"]);
    expect(Object.keys(code)).toEqual(["sum", "post", "after"]);
    expect(await test("row")).toMatchObject(all(1));
  });

  it("fails, and names the place, if a node without a record would have to run", async () => {
    await record(row(sum), "new", "--set", "list=[1]");
    await rm(join(cwd, "row/tests/named.json"));
    const nodes = [action("sum", sum, live), action("call", dice("called")), action("send", dice("sent"))];
    await write({
      ...between(
        "row",
        [...nodes, action("after", "context['last'] = context['sent']", live)],
        ways("start > sum > call > send > after > end"),
      ),
    });
    const message = '"call" must not run, and has no recorded outcome';
    expect(await test("row")).toMatchObject({
      code: 1,
      failed: 1,
      ...only("failed", { place: "call", message, keys: [] }),
    });
    expect(await test("row", "--update")).toMatchObject(all(1));
    expect(Object.keys((await fixture("row", "new")).outcomes)).toEqual(["sum", "call", "send", "after"]);
  });

  it("runs maps, loops, failures, waits and other workflows without effects", async () => {
    await write(between("inner", [action("one", dice("made"))], ways("start > one > end")));
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
    await record(definition, "all", "--set", "list=[1, 2]");
    const began = Date.now();
    expect(await test("whole")).toMatchObject(all(1));
    expect(Date.now() - began).toBeLessThan(20_000);
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

  it("stores bytes and large values in files, masks secrets, and escapes data that looks like a form", async () => {
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
    await record(definition, "f", "--set", 'password="hunter2"', "--file", `pdf=${join(cwd, "some.pdf")}`);
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

  it("accepts loosened values, and names an expression that is not true", async () => {
    const code = "import time\ncontext['now'] = time.time()\ncontext['total'] = 850.004\ncontext['id'] = 'inv-7'";
    await record(between("loose", [action("make", code, live)], ways("start > make > end")), "l");
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
    expect(await test("loose", "--update")).toMatchObject(all(1));
    const { outcomes, expect: expected } = await fixture("loose", "l");
    expect(outcomes.make.set).toEqual({
      now: { $python: "value > 0" },
      total: 851.0,
      id: { $schema: { type: "string" } },
    });
    expect(expected.context).toEqual({ now: { $any: true } });
  });

  it("ignores differences of timing: how far other items of a failed map got", async () => {
    // The first time item 0 ends before item 1 fails, the next time it does not.
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
    await record(flow(0), "stopped", "--set", "list=[0, 1]");
    await write(flow(2));
    expect(await test("chance")).toMatchObject(all(1));
  });

  it("uses a person's recorded answer", async () => {
    const edges = ["approved", "rejected"].map((condition) => ({
      from: "ask",
      to: condition === "approved" ? "pay" : "end",
      condition,
    }));
    const ask = { id: "ask", type: "approval", message: "Pay?" };
    await write(between("asking", [ask, action("pay", dice("paid"))], [...ways("start > ask", "pay > end"), ...edges]));
    const running = startNova(cwd, "run", "asking", "--json");
    const [id] = /exec_\w+/.exec(await running.line("nova approve")) ?? [];
    expect(await nova(cwd, "approve", id ?? "", "--choice", "approved", "--as", "ann")).toMatchObject({ code: 0 });
    expect((await running.ended).code).toBe(0);
    await nova(cwd, "test", "add", id ?? "", "--name", "yes");
    expect((await fixture("asking", "yes")).outcomes.ask).toMatchObject({
      set: { ask: { choice: "approved", by: "ann" } },
      decision: "approved",
    });
    expect(await test("asking")).toMatchObject(all(1));
    await edit("asking", "yes", (test) => {
      delete test.outcomes.ask;
    });
    const message = '"ask" must not run, and has no recorded outcome';
    expect(await test("asking")).toMatchObject(only("failed", { place: "ask", message }));
  });

  it("names the place where a run takes another path", async () => {
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
    await record(which(1), "t", "--set", "n=5");
    await edit("turns", "t", (test) => {
      test.outcomes.which = { set: {}, decision: "false" };
    });
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
  it("runs the tests again when a file changes, until it is ended", async () => {
    await record(row("context['total'] = 1"), "w");
    await rm(join(cwd, "row/tests/new.json"), { force: true });
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
  const refusal = async (...args: string[]) => {
    const { code, stdout, stderr } = await nova(cwd, "test", ...args);
    expect([code, stdout]).toEqual([2, ""]);
    return stderr;
  };
  let id: string;
  beforeAll(async () => {
    id = await record(row("context['total'] = 1"), "there");
  });
  beforeEach(() => process.chdir(cwd));

  it("a test that cannot be made", async () => {
    expect(await refusal("add")).toMatch(/needs an execution/);
    expect(await refusal("add", "exec_01M8AF93Z6K02GZX8KG37CV8MW")).toMatch(/there is no execution/);
    expect(await refusal("add", id, "--name", "../up")).toMatch(/^nova: "\.\.\/up" is not a valid name for a test/);
    expect(await refusal("add", id, "--name", "there")).toMatch(
      /^nova: the test "there" exists already - choose another --name/,
    );
    expect(await refusal("add", id, "--folder", "whole")).toMatch(/does not have the workflow "row" of the execution/);
    await rm(join(cwd, "row"), { recursive: true });
    expect(await refusal("add", id)).toMatch(
      /^nova: there is no folder of the workflow "row" here - name it with --folder/,
    );
    expect(await nova(cwd, "erase", id)).toMatchObject({ code: 0 });
    await write(row("context['total'] = 1"));
    expect(await refusal("add", id)).toMatch(/were erased/);
  });

  it("an execution that waits", async () => {
    const asks = between(
      "asks",
      [{ id: "ask", type: "approval", message: "Pay?" }],
      [...ways("start > ask"), { from: "ask", to: "end", condition: "default" }],
    );
    await write(asks);
    const running = startNova(cwd, "run", "asks", "--json");
    await running.line("nova approve");
    running.child.kill("SIGINT");
    const { execution_id } = JSON.parse((await running.ended).stdout);
    expect(await refusal("add", execution_id)).toMatch(
      /^nova: execution exec_\w+ is open - wait for its end, or cancel it/,
    );
  });

  it("a folder without tests, and an invalid test", async () => {
    expect(await refusal("nowhere")).toMatch(/"nowhere" is not a workflow folder/);
    expect(await refusal("row")).toMatch(/^nova: "row" has no tests - nova test add <execution> makes one/);
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

  it("only the test with a form in a recorded outcome", async () => {
    await rm(join(cwd, "row"), { recursive: true });
    await record(row("context['total'] = 1"), "a");
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
