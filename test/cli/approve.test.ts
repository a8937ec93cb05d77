import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newFolder, nova, type Started, startNova } from "./support/nova.ts";

let cwd: string;
let running: Started[] = [];

beforeAll(async () => {
  cwd = await newFolder();
  await write(
    "ask",
    { type: "approval", message: "Pay {{sum}}?", to: ["boss", "boss@example.com"], form: { required: ["why"] } },
    true,
  );
  await write("order", { type: "wait", event: { source: ["shop"], detail: { id: [7] } } }, false);
  await writeFile(join(cwd, "why.json"), '{\n  "why": "it fits", "n": 12345678901234567890\n}\n');
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ ended }) => ended));
  running = [];
});

/** Writes a workflow of start, one node and end. The id of the node is also the id of the workflow. */
async function write(id: string, node: object, hasChoices: boolean): Promise<void> {
  const on = { from: id, to: "end" };
  const ways = hasChoices ? ["approved", "rejected"].map((condition) => ({ ...on, condition })) : [on];
  const nodes = [
    { id: "start", type: "start" },
    { id, ...node },
    { id: "end", type: "end" },
  ];
  await mkdir(join(cwd, id));
  await writeFile(
    join(cwd, id, "workflow.json"),
    JSON.stringify({ id, nodes, edges: [{ from: "start", to: id }, ...ways] }),
  );
}

function start(...args: string[]): Started {
  const started = startNova(cwd, ...args);
  running.push(started);
  return started;
}

async function json(...args: string[]) {
  const { code, stdout } = await nova(cwd, ...args, "--json");
  return { code, ...JSON.parse(stdout) };
}

describe("an approval at the command line", { timeout: 60_000 }, () => {
  it("is printed by nova run and nova tasks, and can be answered in another terminal", async () => {
    const run = start("run", "ask", "--set", "sum=850.0");
    const command = await run.line("nova approve");
    expect(await run.line("Pay")).toContain("Pay 850.0?");
    const items = await vi.waitFor(async () => {
      const listed = (await json("tasks")).items;
      expect(listed[0].mail).not.toBeNull();
      return listed;
    }, 40_000);
    const [mail = ""] = await readdir(join(cwd, ".nova/mail"));
    expect(await readFile(join(cwd, ".nova/mail", mail), "utf8")).toMatch(
      /^To: boss@example.com\r?\nSubject: NOVA: ask waits/m,
    );
    const [execution] = /exec_\w+/.exec(command) ?? [];
    expect(items).toEqual([
      {
        task_id: expect.stringMatching(/^task_/),
        execution_id: execution,
        workflow: "ask",
        version: 1,
        client: "default",
        node: "ask",
        message: "Pay 850.0?",
        choices: ["approved", "rejected"],
        to: ["boss", "boss@example.com"],
        form: { required: ["why"] },
        forms: null,
        pattern: null,
        mail: { to: ["boss@example.com"], at: expect.any(String), problem: null },
        age_seconds: expect.any(Number),
        created_at: expect.any(String),
        expires_at: expect.any(String),
        status: "open",
        answered_at: null,
      },
    ]);
    const listed = (await nova(cwd, "tasks")).stdout;
    expect(listed).toMatch(
      /^task +execution +workflow +client +node .*\ntask_\w+ +exec_\w+ +ask +default +ask +approved\|rejected +[\d.]+ m?s /,
    );
    const answer = ["approve", execution ?? "", "--choice", "rejected", "--data", "why.json", "--as", "ann"];
    expect(await json(...answer)).toMatchObject({ code: 0, node: "ask", choice: "rejected", by: "ann", sent: true });
    const { code, stdout } = await run.ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/completed ask.*12345678901234567890/s)]);
    expect((await json("tasks")).items).toEqual([]);
    expect((await json("audit")).items).toContainEqual(
      expect.objectContaining({ action: "task.answered", detail: { choice: "rejected", as: "ann" } }),
    );
    const again = await nova(cwd, ...answer);
    expect([again.code, again.stdout, again.stderr]).toEqual([
      2,
      "",
      expect.stringMatching(/^nova: "ask" was already answered by ann at .*: rejected/),
    ]);
  });

  it("can be answered by its task id, and the answer names the user of this machine", async () => {
    const run = start("run", "ask", "--set", "sum=1", "--json");
    await run.line("nova approve");
    const { items } = await json("tasks");
    const answer = ["approve", items[0].task_id, "--choice", "approved", "--data", "why.json"];
    expect(await json(...answer)).toMatchObject({ by: userInfo().username });
    const { code, stdout, stderr } = await run.ended;
    expect([code, JSON.parse(stdout).status, stderr]).toEqual([
      0,
      "completed",
      expect.stringContaining("nova approve"),
    ]);
  });

  it.each([
    [
      "an unknown execution",
      ["exec_none", "ask", "--choice", "approved"],
      /no execution "exec_none" - `nova executions` lists them/,
    ],
    [
      "an unknown task",
      ["task_none", "--choice", "approved"],
      /no task "task_none" - `nova tasks` lists those that wait/,
    ],
    ["a missing file", ["exec_none", "ask", "--choice", "a", "--data", "none.json"], /data file "none.json" cannot/],
    ["an answer without a choice", ["exec_none", "ask"], /required option '--choice/],
  ])("is not answered by a command with %s, which exits with 2 and one sentence", async (_what, args, sentence) => {
    const { code, stdout, stderr } = await nova(cwd, "approve", ...args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(sentence)]);
  });
});

describe("a waiting run", { timeout: 60_000 }, () => {
  it.each(["SIGINT", "SIGKILL"] as const)(
    "stays open when its process ends (%s), and continues in the process that answers",
    { tags: ["deep"] },
    async (signal) => {
      const run = start("run", "ask", "--set", "sum=1");
      const [execution = ""] = /exec_\w+/.exec(await run.line("nova approve")) ?? [];
      run.child.kill(signal);
      const { code, stdout } = await run.ended;
      if (signal === "SIGINT") expect([code, stdout]).toEqual([130, expect.stringContaining("waiting ask version")]);
      expect((await json("tasks")).items).toMatchObject([{ execution_id: execution }]);
      expect((await json("executions", "--status", "waiting")).items).toMatchObject([{ execution_id: execution }]);
      const answer = await json("approve", execution, "ask", "--choice", "approved", "--data", "why.json");
      expect(answer).toMatchObject({ code: 0, sent: true });
      expect(await json("verify", execution)).toMatchObject({ state: "anchored" });
      expect((await json("trace", execution)).path).toEqual(["start", "ask", "end"]);
    },
  );

  it("keeps waiting in one branch after the command that answers another branch has ended", {
    tags: ["deep"],
  }, async () => {
    const ask = (id: string) => ({ id, type: "approval", message: "Fine?", choices: ["ok"] });
    const edges = ["one", "two"].flatMap((id) => [
      { from: "start", to: id },
      { from: id, to: "end", condition: "ok" },
    ]);
    const nodes = [{ id: "start", type: "start" }, ask("one"), ask("two"), { id: "end", type: "end" }];
    await mkdir(join(cwd, "both"));
    await writeFile(join(cwd, "both/workflow.json"), JSON.stringify({ id: "both", nodes, edges }));
    const run = start("run", "both");
    const [execution = ""] = /exec_\w+/.exec(await run.line("nova approve")) ?? [];
    await vi.waitFor(async () => expect((await json("tasks")).items).toHaveLength(2), 20_000);
    run.child.kill("SIGINT");
    await run.ended;
    expect(await json("approve", execution, "one", "--choice", "ok")).toMatchObject({ code: 0, sent: true });
    const again = await nova(cwd, "approve", execution, "--choice", "ok");
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(/"one" was already answered by .* - name the task to answer: task_\w+ \(two\)/);
    const [, task = ""] = /(task_\w+) \(two\)/.exec(again.stderr) ?? [];
    expect(await json("approve", task, "--choice", "ok")).toMatchObject({ code: 0, node: "two", task_id: task });
    expect((await json("trace", execution)).status).toBe("completed");
  });

  it("can be cancelled after the process that started it is gone", { tags: ["deep"] }, async () => {
    const run = start("run", "order");
    await run.line("order waits");
    run.child.kill("SIGKILL");
    await run.ended;
    const [{ execution_id, ...listed }] = (await json("executions", "--workflow", "order")).items;
    expect(listed).toMatchObject({
      workflow: "order",
      version: 1,
      client: "default",
      status: "waiting",
      duration_ms: null,
    });
    expect((await nova(cwd, "executions", "--workflow", "order")).stdout).toMatch(/ order +1 +default +waiting /);
    expect(await json("cancel", execution_id)).toMatchObject({ code: 0, status: "cancelled" });
    const [deed] = (await json("audit")).items;
    const by = `user ${userInfo().username}`;
    expect(deed).toMatchObject({ action: "execution.cancelled", subject: execution_id, client_slug: "default", by });
    expect((await json("trace", execution_id)).path).toEqual(["start", "order"]);
  });
});

describe("an event at the command line", { timeout: 60_000 }, () => {
  it("reaches only the run that waits for it", async () => {
    const run = start("run", "order", "--json");
    const send = (id: string) =>
      json("emit", "--source", "shop", "--type", "Paid", "--detail", `{"id": ${id}, "sum": 1.0}`);
    await run.line("order waits");
    await run.line("for an event");
    expect((await send("8")).items).toEqual([]);
    expect((await send("7")).items).toMatchObject([{ node: "order" }]);
    const { stdout } = await run.ended;
    expect(stdout).toContain('"sum": 1.0');
    expect(JSON.parse(stdout)).toMatchObject({
      status: "completed",
      context: { order: { source: "shop", "detail-type": "Paid", detail: { id: 7 } } },
    });
  });

  it("is refused if its detail is not a JSON object", async () => {
    const { code, stderr } = await nova(cwd, "emit", "--source", "shop", "--type", "Paid", "--detail", "7");
    expect([code, stderr]).toEqual([2, expect.stringMatching(/--detail 7 is not a JSON object/)]);
  });
});
