import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Execution,
  readTrace,
  renderJson,
  startExecution,
  type Verification,
  verifyExecution,
} from "@nova/engine";
import { authenticate, createClient, createKey, type ServicePorts } from "@nova/service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storedSource, writeExport } from "../../../packages/cli/src/archive/export.ts";
import { withCloud } from "../../../packages/cli/src/cloud.ts";
import { exportAll, importAll } from "../../../packages/cli/src/commands/archive.ts";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
let folder: string;
let cloud: TestCloud;
let key: string;
const runs: Execution[] = [];
const found = new Map<string, { verified: Verification; told: string }>();

const look = "context['again'] = context['row']";
const flow = inARow("told", {
  blobs: `context["letters"] = context["name"] * 9000  # ${"long ".repeat(2000)}`,
  each: {
    type: "map",
    items: "rows",
    as: "row",
    into: "seen",
    nodes: [{ id: "look", type: "action", code: look }],
    edges: [],
  },
});

async function tell(ports: ServicePorts, id: string) {
  const verified = await verifyExecution(ports, id);
  return { verified, told: renderJson(await readTrace(ports, id, { full: true })) };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-archive-"));
  cloud = await openTestCloud({ dataDir: join(folder, "one") });
  const ports = cloud.service;
  const version = await cloud.publish(flow);
  for (const slug of ["acme", "globex"]) {
    await createClient(ports, admin, { slug, name: slug });
    const context = `{"name": "${slug}", "rows": [1.50, 12345678901234567890]}`;
    const { id } = await startExecution(ports, { version, context, client: slug });
    await cloud.untilEnd(id);
    runs.push((await ports.executions.get(id)) as Execution);
    found.set(id, await tell(ports, id));
  }
  key = (await createKey(ports, admin, { ulid: "0".repeat(26), role: "runner", client: "acme" })).text as string;
  await writeExport(storedSource(ports, "acme"), join(folder, "of-acme"), { client: "acme" });
  await cloud.close();
  process.env.NOVA_DATA_DIR = join(folder, "one");
  await exportAll.run([join(folder, "all")], {});
});

afterAll(async () => {
  delete process.env.NOVA_DATA_DIR;
  await rm(folder, { recursive: true });
});

describe("a full export", { timeout: 60_000 }, () => {
  it("is restored in an empty folder, where its runs can be verified and read, and its workflows can run", async () => {
    process.env.NOVA_DATA_DIR = join(folder, "two");
    await importAll.run([join(folder, "all")], {});
    expect([...found.values()].map(({ verified }) => verified.state)).toEqual(["anchored", "anchored"]);
    await withCloud(async ({ service }) => {
      for (const { id } of runs) expect(await tell(service, id)).toEqual(found.get(id));
      expect(await authenticate(service, key)).toMatchObject({ role: "runner", client: "acme" });
      const { stateMachineArn = "" } = (await service.workflows.latest("told")) ?? {};
      expect(await service.machineVersions.list(stateMachineArn)).toContain(stateMachineArn);
    });
  });

  it("changes nothing when it is imported a second time", async () => {
    process.env.NOVA_DATA_DIR = join(folder, "two");
    await importAll.run([join(folder, "all")], {});
    await withCloud(async ({ service }) => {
      for (const { id } of runs) expect(await tell(service, id)).toEqual(found.get(id));
    });
  });

  it("is refused by a data folder that signs with another key", async () => {
    process.env.NOVA_DATA_DIR = join(folder, "three");
    await withCloud(async () => undefined);
    await expect(importAll.run([join(folder, "all")], {})).rejects.toThrow(/signs with a key of its own/);
  });

  it("has secrets that only its user may read, and is not written into a folder that contains files", async () => {
    expect((await stat(join(folder, "all", "secrets.json"))).mode & 0o777).toBe(0o600);
    await expect(exportAll.run([join(folder, "all")], {})).rejects.toThrow(/is not empty/);
  });

  it("is refused if it is incomplete, has an unknown format, or names an object outside its folder", async () => {
    const broken = join(folder, "all");
    await appendFile(join(broken, "objects.ndjson"), '{"key":"blobs/../../keys.json","bytes":1,"sha256":""}\n');
    process.env.NOVA_DATA_DIR = join(folder, "two");
    await expect(importAll.run([broken], {})).rejects.toThrow(/changed by hand/);
    await rm(join(broken, "nova-export.json"));
    await expect(importAll.run([broken], {})).rejects.toThrow(/not a complete export/);
    await writeFile(join(broken, "nova-export.json"), '{"format": 2}');
    await expect(importAll.run([broken], {})).rejects.toThrow(/has format 2.*update NOVA/);
  });
});

describe("an export of a client", () => {
  it("contains the runs and versions of this client, but no data of other clients and no secrets", async () => {
    const items = await readFile(join(folder, "of-acme", "items.ndjson"), "utf8");
    const objects = await readFile(join(folder, "of-acme", "objects.ndjson"), "utf8");
    const [acme, globex] = runs.map(({ id }) => id) as [string, string];
    for (const text of [items, objects]) {
      expect(text).toContain(acme);
      expect(text).not.toContain(globex);
    }
    const entities = items.matchAll(/"__edb_e__":\{"S":"([\w-]+)"\}/g);
    expect([...new Set(Array.from(entities, ([, entity]) => entity))].sort()).toEqual([
      "audit",
      "client",
      "execution",
      "key",
      "link",
      "stats",
      "version",
    ]);
    await expect(stat(join(folder, "of-acme", "secrets.json"))).rejects.toThrow(/ENOENT/);
  });
});
