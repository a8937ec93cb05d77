import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { action, between, ways } from "../../support/forked.ts";
import { newFolder, nova, startNova } from "../support/nova.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
  vi.stubEnv("NO_COLOR", "1");
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const live = { effects: false };
/** Code that sets another value in each run. If a run has the recorded value, its code did not run. */
const dice = (key: string) => `import uuid\ncontext['${key}'] = str(uuid.uuid4())`;

async function write(definition: { id?: string }): Promise<string> {
  const id = definition.id ?? "";
  await mkdir(join(cwd, id), { recursive: true });
  await writeFile(join(cwd, id, "workflow.json"), JSON.stringify(definition));
  return id;
}

async function run(definition: object, ...given: string[]): Promise<string> {
  const id = await write(definition);
  return JSON.parse((await command("run", id, "--json", ...given)).out).execution_id;
}

async function record(definition: object, name: string, ...given: string[]): Promise<string> {
  const execution = await run(definition, ...given);
  const { id } = definition as { id: string };
  expect(await command("test", "add", execution, "--name", name)).toMatchObject({
    code: 0,
    out: expect.stringContaining(`${id}/tests/${name}.json is now a test of ${id}, from ${execution}`),
  });
  return execution;
}

async function command(...args: string[]) {
  const { code, stdout, stderr } = await nova(cwd, ...args);
  return { code, out: stdout.replace(/\n$/, ""), err: stderr };
}

async function test(id: string) {
  const { code, out, err: stderr } = await command("test", id, "--json");
  return { code, stderr, ...JSON.parse(out) };
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

const sum = "context['total'] = sum(context['list'])";

describe("nova test", { timeout: 120_000 }, () => {
  it("runs the nodes without effects, and uses the recorded outcomes of all other nodes", async () => {
    const id = await run(row(sum), "--set", "list=[1, 2.50]");
    expect((await command("test", "add", id, "--name", "bill")).out).toBe(
      `row/tests/bill.json is now a test of row, from ${id}`,
    );
    expect(await test("row")).toMatchObject({
      ...all(1),
      items: [{ name: "bill", status: "passed", first_difference: null }],
    });
    await edit("row", "bill", (test) => {
      test.expect.context.total = 0;
    });
    const junit = join(cwd, "junit.xml");
    const updated = await command("test", "row", "--update", "--junit", junit);
    expect(updated).toEqual({ code: 0, out: "updated bill\n1 passed", err: "" });
    expect(await readFile(junit, "utf8")).toContain('<testsuite name="row" tests="1" failures="0"');
    expect((await fixture("row", "bill")).expect.context.total).toBe(3.5);
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

    it("names the keys whose values differ between two runs, and the option that allows these keys to differ", async () => {
      execution = await run(chancy);
      const { code, out } = await command("test", "add", execution, "--name", "strict");
      expect([code, out]).toEqual([0, expect.stringContaining(`nova test add ${execution} --name strict --loosen`)]);
      expect(out).toMatch(/\n {2}one: file\n {2}one: id\n {2}two: copy\n {2}the context at the end: copy\n/);
      expect(await test("chancy")).toMatchObject({ code: 1, failed: 1 });
    });

    it("with --loosen allows any value for the keys that differ between two runs", async () => {
      const { out } = await command("test", "add", execution, "--name", "strict", "--loosen", "--json");
      expect(JSON.parse(out)).toMatchObject({
        varies: varies.map((one) => ({ ...one, can_loosen: true })),
        loosened: true,
        note: null,
      });
      const { outcomes, expect: expected } = await fixture("chancy", "strict");
      expect(outcomes.one.set).toEqual({ id: { $any: true }, file: { $any: true }, same: 1 });
      expect(expected.context).toEqual({ id: { $any: true }, copy: { $any: true }, file: { $any: true }, same: 1 });
      expect(await test("chancy")).toMatchObject(all(1));
    });

    it("names the differences that no form such as `$any` can allow (other keys and other errors) separately from all other differences", {
      tags: ["deep"],
    }, async () => {
      const keys = "import uuid\ncontext[str(uuid.uuid4())] = 1";
      const fails = `${dice("id")}\nraise ValueError(str(context['id']))`;
      const nodes = [action("keys", `${dice("id")}\n${keys}`, live), action("fails", fails, live)];
      const add = ["test", "add", await run(between("unlike", nodes, ways("start > keys > fails > end")))];
      const { varies } = JSON.parse((await command(...add, "--name", "unlike", "--loosen", "--json")).out);
      expect(varies).toContainEqual({ node: "keys", key: "id", can_loosen: true });
      expect(varies).toContainEqual({ node: "fails", key: "error", can_loosen: false });
      expect(varies).toContainEqual({ node: "keys", key: expect.stringMatching(/^.{36}$/), can_loosen: false });
      const { outcomes } = await fixture("unlike", "unlike");
      expect(Object.values(outcomes.keys.set)).toEqual(expect.arrayContaining([{ $any: true }, 1]));
      const { out } = await command(...add, "--name", "unlike", "--loosen");
      expect(out).toMatch(/the test now allows any value there\n {2}keys: id\n/);
      expect(out).toMatch(/because no form allows[^\n]*\n(?: {2}.*\n)* {2}fails: error(\n|$)/);
    });

    it("keeps a test even if its first repetition cannot finish, and says why", async () => {
      await write(between("chancy", [action("one", "context['same'] = 2", live)], ways("start > one > end")));
      const { code, out } = await command("test", "add", execution, "--name", "other", "--json");
      expect([code, JSON.parse(out)]).toMatchObject([
        0,
        { varies: [], note: expect.stringMatching(/did not run: node "one"/) },
      ]);
    });
  });

  it("uses the recorded answer of an approval instead of asking a person", { tags: ["deep"] }, async () => {
    const edges = ["approved", "rejected"].map((condition) => ({
      from: "ask",
      to: condition === "approved" ? "pay" : "end",
      condition,
    }));
    const ask = { id: "ask", type: "approval", message: "Pay?" };
    await write(between("asking", [ask, action("pay", dice("paid"))], [...ways("start > ask", "pay > end"), ...edges]));
    const running = startNova(cwd, "run", "asking", "--json");
    const [id = ""] = /exec_\w+/.exec(await running.line("nova approve")) ?? [];
    expect(await command("approve", id, "--choice", "approved", "--as", "ann")).toMatchObject({ code: 0 });
    expect((await running.ended).code).toBe(0);
    await command("test", "add", id, "--name", "yes");
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
});

describe("nova test add refuses in one sentence", { timeout: 120_000 }, () => {
  const refusal = async (...args: string[]) => {
    const { code, out, err } = await command("test", ...args);
    expect([code, out]).toEqual([2, ""]);
    return err;
  };
  let id: string;
  beforeAll(async () => {
    process.chdir(cwd);
    await rm("row", { recursive: true, force: true });
    id = await record(row("context['total'] = 1"), "there");
  });

  it("to make a test if the execution is unknown or erased, the name is invalid or taken, or the folder does not fit", async () => {
    expect(await refusal("add")).toMatch(/needs an execution/);
    expect(await refusal("add", "exec_01M8AF93Z6K02GZX8KG37CV8MW")).toMatch(/there is no execution/);
    expect(await refusal("add", id, "--name", "../up")).toMatch(/^nova: "\.\.\/up" is not a valid name for a test/);
    expect(await refusal("add", id, "--name", "there")).toMatch(
      /^nova: the test "there" exists already - choose another --name/,
    );
    expect(await refusal("add", id, "--folder", "chancy")).toMatch(/does not have the workflow "row" of the execution/);
    await rm(join(cwd, "row"), { recursive: true });
    expect(await refusal("add", id)).toMatch(
      /^nova: there is no folder of the workflow "row" here - name it with --folder/,
    );
    expect(await command("erase", id)).toMatchObject({ code: 0 });
    await write(row("context['total'] = 1"));
    expect(await refusal("add", id)).toMatch(/were erased/);
  });

  it("to make a test from an execution that waits", async () => {
    const asks = between(
      "asks",
      [{ id: "ask", type: "approval", message: "Pay?" }],
      [...ways("start > ask"), { from: "ask", to: "end", condition: "default" }],
    );
    const running = startNova(cwd, "run", await write(asks), "--json");
    const [waiting = ""] = /exec_\w+/.exec(await running.line("nova approve")) ?? [];
    running.child.kill("SIGINT");
    await running.ended;
    expect(await refusal("add", waiting)).toMatch(/^nova: execution exec_\w+ is open - wait for its end, or cancel it/);
  });
});
