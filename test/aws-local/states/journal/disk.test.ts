import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { InvokeLambda } from "../../../../packages/aws-local/src/lambda-types.ts";
import { root } from "../../../support/imports.ts";
import { handClock } from "../support/hand-clock.ts";
import { asks, historyOf, input, inRow, keeper, rested, standing, succeed, works } from "../support/parked.ts";
import { temporaryFolder, testServer } from "../support/server.ts";

const read = (dataDir: string, file: string) => readFileSync(join(dataDir, "states", file), "utf8");

describe("the data folder of the local Step Functions", () => {
  it("contains all earlier events of an execution before a Lambda function receives a task token", async () => {
    const dataDir = await temporaryFolder();
    const seen: string[] = [];
    const invokeLambda: InvokeLambda = async (_arn, payload) => {
      if (payload.includes("token")) seen.push(read(dataDir, "history/0.ndjson"));
      return { ok: true, payload: '"before"' };
    };
    await rested(inRow({ Before: works, Ask: asks }), { dataDir, invokeLambda });
    expect(seen).toEqual([expect.stringContaining('"payload":"\\"before\\""')]);
  });

  it("contains the answer to a task before the sender of the answer gets a response", async () => {
    const { tokenOf, invokeLambda: keep } = keeper();
    const invokeLambda: InvokeLambda = (arn, payload) =>
      payload.includes("token") ? keep(arn, payload) : new Promise(() => {});
    const { client, dataDir } = await rested(inRow({ Ask: asks, Hang: works }), { invokeLambda });
    await client.send(succeed(tokenOf(input), "the answer"));
    expect(read(dataDir, "history/0.ndjson")).toContain('"value":{"output":"the answer"}');
  });

  it("contains every event of a waiting execution, and the time at which the execution continues", async () => {
    const clock = handClock();
    const server = await rested(inRow({ Wait: { Type: "Wait", Seconds: 60 } }), { clock });
    const lines = read(server.dataDir, "history/0.ndjson").trimEnd().split("\n");
    const types = lines.map((line) => JSON.parse(line).type).filter((type) => type !== undefined);
    expect(types).toEqual((await historyOf(server)).map(({ type }) => type));
    expect(read(server.dataDir, "executions.ndjson")).toContain(`{"park":0,"due":${clock.now() + 60_000}}`);
  });

  it("marks a waiting execution as busy before it stores an answer for that execution", async () => {
    const [clock, { tokenOf, invokeLambda }] = [handClock(), keeper()];
    const server = await rested(inRow({ Ask: asks, Wait: { Type: "Wait", Seconds: 1 } }), { clock, invokeLambda });
    await server.client.send(succeed(tokenOf(input)));
    await server.live.idle();
    const [, ...changes] = read(server.dataDir, "executions.ndjson")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(changes).toEqual([{ park: 0, due: null }, { wake: 0 }, { park: 0, due: clock.now() + 1000 }]);
  });

  it("can be opened if it has format 1, and the two executions that wait in it continue", async () => {
    const dataDir = await temporaryFolder();
    cpSync(join(root, "test/fixtures/formats/states-1"), join(dataDir, "states"), { recursive: true });
    const tokens = read(dataDir, "history/1.ndjson").match(/(?<=\\"token\\":\\")[^\\]+/g) ?? [];
    const [clock, { invokeLambda }] = [handClock(), keeper()];
    const server = await testServer({ clock, invokeLambda, dataDir });
    expect(server.interrupted).toEqual([]);
    await server.client.send(succeed(tokens[0] as string));
    await server.live.idle();
    clock.pass(60);
    const { status, output } = await standing(server);
    expect([status, JSON.parse(output ?? "null")]).toEqual(["SUCCEEDED", [input, "yes"]]);
  });
});
