// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newFolder, nova, startNova } from "./support/nova.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
  await mkdir(join(cwd, "asks"));
  await writeFile(join(cwd, "asks", "workflow.json"), JSON.stringify(asks));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const sides = ["a", "b", "c"];

/**
 * A workflow that asks a person again until the answer is "enough". Its branches contain long loops, so the events of
 * two questions might exceed the history limit of one Step Functions execution. Each question therefore gets a Step
 * Functions execution of its own.
 */
const asks = {
  id: "asks",
  nodes: [
    { id: "start", type: "start" },
    { id: "up", type: "action", code: "context['n'] = context.get('n', 0) + 1" },
    ...sides.flatMap((side) => [
      { id: `do_${side}`, type: "action", code: `context['${side}'] = context['n']` },
      { id: `is_${side}`, type: "decision", code: "context['branch_decision'] = 'done'" },
    ]),
    { id: "ask", type: "approval", message: "Round {{n}}. Once more?", choices: ["again", "enough"] },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "up" },
    ...sides.flatMap((side) => [
      { from: "up", to: `do_${side}` },
      { from: `do_${side}`, to: `is_${side}` },
      { from: `is_${side}`, to: `do_${side}`, condition: "again", max: 1000 },
      { from: `is_${side}`, to: "ask", condition: "default" },
    ]),
    { from: "ask", to: "up", condition: "again", max: 10 },
    { from: "ask", to: "end", condition: "enough" },
    { from: "ask", to: "end", condition: "default" },
  ],
};

async function json(...args: string[]) {
  const { code, stdout } = await nova(cwd, ...args, "--json");
  return { code, ...JSON.parse(stdout) };
}

it("a run in a loop continues after each of three answers, although the process that ran it before has ended", async () => {
  const run = startNova(cwd, "run", "asks");
  const [id = ""] = /exec_\w+/.exec(await run.line("nova approve")) ?? [];
  const waiting = async () => (await json("tasks")).items[0].task_id;
  run.child.kill("SIGKILL");
  await run.ended;
  for (const choice of ["again", "again", "enough"]) {
    expect(await json("approve", await waiting(), "--choice", choice)).toMatchObject({ code: 0, sent: true });
  }
  const { path } = await json("trace", id);
  expect(path.filter((node: string) => node === "ask" || node === "up")).toEqual(
    Array.from({ length: 3 }, () => ["up", "ask"]).flat(),
  );
  expect(path.at(-1)).toBe("end");
  expect(await json("verify", id)).toMatchObject({ state: "anchored" });
  const begun = await readFile(join(cwd, ".nova", "states", "executions.ndjson"), "utf8");
  expect(["", ".1", ".2", ".3"].map((end) => begun.includes(`"${id}${end}"`))).toEqual([true, true, true, false]);
}, 90_000);
