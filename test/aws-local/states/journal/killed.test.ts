import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HandClock, handClock } from "../support/hand-clock.ts";
import { asks, historyOf, inRow, keeper, rested, standing, succeed, works } from "../support/parked.ts";
import { type TestServer, temporaryFolder, testServer } from "../support/server.ts";

const Branches = [inRow({ Wait: { Type: "Wait", Seconds: 60 }, Then: works }), inRow({ Ask: asks, Work: works })];
const flow = inRow({ Before: works, Fork: { Type: "Parallel", Branches }, Id: { Type: "Pass" }, After: works });

/** Answers the task, lets the time of the waits pass, and returns the description of the execution afterwards. */
async function bringToEnd(server: TestServer, clock: HandClock, token: string) {
  await server.client.send(succeed(token)).catch(({ name }: Error) => expect(name).toBe("TaskTimedOut"));
  await server.live.idle();
  clock.pass(60);
  const { status, output, error, cause } = await standing(server);
  return { status, output, error, cause, types: (await historyOf(server)).map(({ type }) => type) };
}

/**
 * Runs an execution to its end. Returns the data folder, the description of the ended execution, the lines of its
 * history file, and the token of its task.
 */
async function wholeRun() {
  const [clock, { invokeLambda, tokenOf }] = [handClock(), keeper()];
  const server = await rested(flow, { clock, invokeLambda });
  const whole = await bringToEnd(server, clock, tokenOf({ n: 1 }));
  await server.close();
  const lines = readFileSync(join(server.dataDir, "states/history/0.ndjson"), "utf8").trimEnd().split("\n");
  return { dataDir: server.dataDir, whole, lines, token: tokenOf({ n: 1 }) };
}

/** Copies the data folder. In the copy, the execution's file has only these lines, followed by the text `more`. */
async function cutAfter(dataDir: string, lines: string[], more = ""): Promise<string> {
  const folder = await temporaryFolder();
  cpSync(dataDir, folder, { recursive: true });
  const index = join(folder, "states/executions.ndjson");
  writeFileSync(index, `${readFileSync(index, "utf8").split("\n")[0]}\n`);
  writeFileSync(join(folder, "states/history/0.ndjson"), `${lines.join("\n")}\n${more}`);
  return folder;
}

describe("a process that is killed after any line of an execution's file", () => {
  it("leaves an execution that reaches the same end, or is aborted because a Lambda function was running", async () => {
    const { dataDir, whole, lines, token } = await wholeRun();
    const seen = new Set<string>();
    for (let kept = 2; kept <= lines.length; kept++) {
      const [clock, { invokeLambda }] = [handClock(), keeper()];
      const folder = await cutAfter(dataDir, lines.slice(0, kept), lines[kept]?.slice(0, 20));
      const server = await testServer({ clock, invokeLambda, dataDir: folder });
      const told = await bringToEnd(server, clock, token);
      seen.add(told.status as string);
      if (told.status === "ABORTED")
        expect(told.cause).toBe("The local cloud stopped while this execution was running.");
      else expect([kept, told]).toEqual([kept, whole]);
      await server.close();
    }
    expect(seen).toEqual(new Set(["ABORTED", "SUCCEEDED"]));
  });

  it("loses no event that follows from the inputs recorded in the file", async () => {
    const { dataDir, whole, lines, token } = await wholeRun();
    const clock = handClock();
    const inputs = lines.filter((line) => !line.includes('"type":'));
    const folder = await cutAfter(dataDir, [...inputs.slice(0, 1), lines[1] as string, ...inputs.slice(1)]);
    const server = await testServer({ clock, invokeLambda: keeper().invokeLambda, dataDir: folder });
    expect(await bringToEnd(server, clock, token)).toEqual(whole);
    const again = readFileSync(join(folder, "states/history/0.ndjson"), "utf8").trimEnd().split("\n");
    expect(again.filter((line) => line.includes('"type":'))).toEqual(lines.filter((line) => line.includes('"type":')));
  });

  it("leaves an execution that is aborted if its replay does not produce the events in the file", async () => {
    const { dataDir, lines } = await wholeRun();
    const other = lines.slice(0, 12).map((line) => line.replace('"WaitStateEntered"', '"PassStateEntered"'));
    const server = await testServer({ dataDir: await cutAfter(dataDir, other) });
    const cause = "This execution cannot go on: run again from its journal it takes another way.";
    expect(await standing(server)).toMatchObject({ status: "ABORTED", error: "Interrupted", cause });
  });
});
