import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { createClient } from "@nova/service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { upgrade } from "../../packages/cli/src/commands/archive.ts";
import type { CommandOutput } from "../../packages/cli/src/output/terminal.ts";
import { openTestCloud, type TestCloud } from "../support/cloud.ts";

const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "" } as const;
let folder: string;

/**
 * The local cloud of the data folder. It stays open during the tests, so the command uses it and does not open another
 * cloud.
 */
let cloud: TestCloud;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-upgrade-"));
  process.env.NOVA_DATA_DIR = folder;
  cloud = await openTestCloud({ dataDir: folder });
});

afterAll(async () => {
  delete process.env.NOVA_DATA_DIR;
  await cloud.close();
  await rm(folder, { recursive: true });
});

async function checked(): Promise<{ code: number; readable: boolean; formats: object[] }> {
  const { code, json } = (await upgrade.run([], { check: true })) as CommandOutput;
  return { code: code ?? 0, ...JSON.parse(JSON.stringify(json)) };
}

it("nova upgrade --check lists the formats of stored records, and fails if this version of NOVA cannot read a format", async () => {
  await createClient(cloud.service, admin, { slug: "acme", name: "Acme" });
  expect(await checked()).toEqual({
    code: 0,
    readable: true,
    formats: ["audit", "client"].map((entity) => ({ entity, format: 1, items: 1, state: "current" })),
  });
  const Item = { pk: { S: "Z" }, sk: { S: "Z" }, __edb_e__: { S: "client" }, format: { N: "7" } };
  const client = new DynamoDBClient();
  await client.send(new PutItemCommand({ TableName: "nova", Item }));
  client.destroy();
  const { code, readable, formats } = await checked();
  expect([code, readable]).toEqual([1, false]);
  expect(formats).toContainEqual({ entity: "client", format: 7, items: 1, state: "newer" });
});

it("nova upgrade without --check changes nothing", async () => {
  await expect(upgrade.run([], {})).rejects.toThrow(/needs --check/);
});
