import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sfnClient } from "../../../packages/aws/src/clients/clients.ts";
import { createMachineVersions, createStateMachines } from "../../../packages/aws/src/states/state-machines.ts";
import { openStates, type States } from "../../../packages/aws-local/src/states/open-states.ts";

let states: States;
let dataDir: string;
const client = sfnClient();
const versions = createMachineVersions(() => client);
const arns: string[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "nova-versions-"));
  states = await openStates({
    dataDir,
    accessKeyId: "test-key",
    secretAccessKey: "test-secret",
    onStatusChange: () => undefined,
    invokeLambda: async () => ({ ok: true, payload: "{}" }),
  });
  Object.assign(process.env, {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test-key",
    AWS_SECRET_ACCESS_KEY: "test-secret",
    AWS_ENDPOINT_URL_SFN: states.url,
  });
  const machines = createStateMachines({ client, roleArn: "arn:aws:iam::000000000000:role/nova" });
  for (const comment of ["one", "two", "three"]) {
    const definition = { Comment: comment, StartAt: "end", States: { end: { Type: "Succeed" } } };
    arns.unshift(await machines.publish("nova-invoice", JSON.stringify(definition), comment));
  }
});

afterAll(async () => {
  client.destroy();
  await states.close();
  await rm(dataDir, { recursive: true });
});

test("the versions of a state machine are listed newest first, from the ARN of any version", async () => {
  for (const arn of arns) expect(await versions.list(arn)).toEqual(arns);
});

test("a removed version is no longer listed, and removing it again succeeds", async () => {
  const [newest = "", middle = "", oldest = ""] = arns;
  await versions.remove(middle);
  await versions.remove(middle);
  expect(await versions.list(newest)).toEqual([newest, oldest]);
});
