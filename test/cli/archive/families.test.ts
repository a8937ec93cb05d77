import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Execution, restartExecution, startExecution, type Verification, verifyExecution } from "@nova/engine";
import { readSecrets, restoreSecrets } from "@nova/local";
import { createClient } from "@nova/service";
import { afterAll, beforeAll, expect, it } from "vitest";
import { storedSource, writeExport } from "../../../packages/cli/src/archive/export.ts";
import { withCloud } from "../../../packages/cli/src/cloud.ts";
import { importAll } from "../../../packages/cli/src/commands/archive.ts";
import { inARow, openTestCloud } from "../../support/cloud.ts";

const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
let folder: string;
/** A run, and its restart. */
let source: Execution;
let restart: Execution;
let verified: Verification[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-families-"));
  const cloud = await openTestCloud({ dataDir: join(folder, "one") });
  const ports = cloud.service;
  await createClient(ports, admin, { slug: "acme", name: "Acme" });
  await cloud.publish(inARow("inner", { say: 'context["said"] = context["name"] * 9000' }));
  const version = await cloud.publish(
    inARow("family", { call: { type: "workflow", workflow: "inner" }, last: 'context["more"] = 1' }),
  );
  const ended = async (id: string) => {
    await cloud.untilEnd(id);
    return (await ports.executions.get(id)) as Execution;
  };
  source = await ended((await startExecution(ports, { version, context: '{"name": "x"}', client: "acme" })).id);
  await writeExport(storedSource(ports, "acme"), join(folder, "before"), { client: "acme" });
  restart = await ended((await restartExecution(ports, { source, version, from: "last", by: "ann" })).execution.id);
  await writeExport(storedSource(ports, "acme"), join(folder, "behind"), { client: "acme" });
  verified = [await verifyExecution(ports, source.id), await verifyExecution(ports, restart.id)];
  await cloud.close();
}, 60_000);

afterAll(async () => {
  delete process.env.NOVA_DATA_DIR;
  await rm(folder, { recursive: true });
});

/**
 * Imports these exports one after another into a new folder. Returns the records and the verification results of the
 * run and of its restart.
 */
async function broughtIn(...exports: string[]) {
  const dataDir = await mkdtemp(join(folder, "into-"));
  await restoreSecrets(dataDir, await readSecrets(join(folder, "one")));
  process.env.NOVA_DATA_DIR = dataDir;
  for (const name of exports) await importAll.run([join(folder, name)], { unverified: true });
  return withCloud(async ({ service }) => ({
    records: [await service.executions.get(source.id), await service.executions.get(restart.id)],
    found: await Promise.all([source.id, restart.id].map((id) => verifyExecution(service, id).catch(() => undefined))),
  }));
}

it("an import restores a run and its restart unchanged", async () => {
  const { records, found } = await broughtIn("behind");
  expect(records.map((one) => [one?.restarts, one?.restartedFrom])).toEqual([
    [[restart.id], undefined],
    [undefined, source.id],
  ]);
  expect(found).toEqual(verified);
});

it("an import adds a restart after an earlier import restored the source of the restart", async () => {
  const { records } = await broughtIn("before");
  expect([records[0]?.restarts, records[1]]).toEqual([undefined, undefined]);
  expect((await broughtIn("before", "behind")).records[0]?.restarts).toEqual([restart.id]);
});

it("an import restores a restart without its source, and nova verify reports that the source is missing", async () => {
  await cp(join(folder, "behind"), join(folder, "half"), { recursive: true });
  const lines = (await readFile(join(folder, "half", "items.ndjson"), "utf8")).split("\n").filter(Boolean);
  const links = lines.filter((line) => !line.includes('"__edb_e__":{"S":"version"}'));
  const own = links.filter((line) => JSON.stringify(JSON.parse(line).pk).includes(restart.id));
  const kept = [...lines.filter((line) => !links.includes(line)), ...own];
  await writeFile(join(folder, "half", "items.ndjson"), kept.map((line) => `${line}\n`).join(""));
  const { digest: _, ...manifest } = JSON.parse(await readFile(join(folder, "half", "nova-export.json"), "utf8"));
  await writeFile(join(folder, "half", "nova-export.json"), JSON.stringify({ ...manifest, items: kept.length }));
  const { records, found } = await broughtIn("half");
  expect(records[0]).toBeUndefined();
  expect(found[1]).toMatchObject({ state: "anchored", erased: [], sourceGone: [source.id] });
});
