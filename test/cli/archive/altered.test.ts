import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Execution, startExecution, verifyExecution } from "@nova/engine";
import { readSecrets, restoreSecrets } from "@nova/local";
import { createClient, createKey, emptyDigest, extendDigest, type ServicePorts } from "@nova/service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { storedSource, writeExport } from "../../../packages/cli/src/archive/export.ts";
import { checkExport, explainUnverified, type Restored, restore } from "../../../packages/cli/src/archive/import.ts";
import { withCloud } from "../../../packages/cli/src/cloud.ts";
import { importAll } from "../../../packages/cli/src/commands/archive.ts";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

const admin = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const flow = inARow("told", { letters: `context["letters"] = context["name"] * 9000` });

let root: string;
let cloud: TestCloud;
let ports: ServicePorts;
/** Executions of the clients acme and globex. */
const runs: Execution[] = [];
let exported: string;
let items: string[];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "nova-altered-"));
  cloud = await openTestCloud({ dataDir: join(root, "one") });
  ports = cloud.service;
  const version = await cloud.publish(flow);
  for (const slug of ["acme", "globex"]) {
    await createClient(ports, admin, { slug, name: slug });
    const { id } = await startExecution(ports, { version, context: `{"name":"${slug}"}`, client: slug });
    await cloud.untilEnd(id);
    runs.push((await ports.executions.get(id)) as Execution);
    await createKey(ports, admin, { ulid: `0${slug.length}`.padEnd(26, "0"), role: "admin", client: slug });
  }
  exported = join(root, "of-acme");
  await writeExport(storedSource(ports, "acme"), exported, { client: "acme" });
  items = linesOf(await readFile(join(exported, "items.ndjson"), "utf8"));
}, 60_000);

afterAll(async () => {
  await cloud.close();
  await rm(root, { recursive: true });
});

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");

/** Copies the export with these items and a matching manifest, as an attacker could do. */
async function forged(lines: readonly string[], manifest: object = {}): Promise<string> {
  const folder = await mkdtemp(join(root, "forged-"));
  await cp(exported, folder, { recursive: true });
  await writeFile(join(folder, "items.ndjson"), lines.map((line) => `${line}\n`).join(""));
  const objects = linesOf(await readFile(join(folder, "objects.ndjson"), "utf8")).map((line) => JSON.parse(line));
  const records = [
    ...lines.map((item) => ({ kind: "item" as const, entity: "", item })),
    ...objects.map((one) => ({ kind: "object" as const, ...one })),
  ];
  const was = JSON.parse(await readFile(join(folder, "nova-export.json"), "utf8"));
  const counted = { items: lines.length, digest: extendDigest(emptyDigest, records) };
  await writeFile(join(folder, "nova-export.json"), JSON.stringify({ ...was, ...counted, ...manifest }));
  return folder;
}

describe("a signed export", () => {
  it("is verified only by the deployment that made the export", async () => {
    const manifest = await checkExport(exported, { isTrusted: false });
    expect(await explainUnverified(manifest, ports.signer)).toBeUndefined();
    const other = await openTestCloud({ dataDir: join(root, "other") });
    expect(await explainUnverified(manifest, other.service.signer)).toMatch(/comes from another NOVA, or was changed/);
    await other.close();
    expect(await explainUnverified(manifest, undefined)).toMatch(/no key here/);
    expect(await explainUnverified({ ...manifest, client: "globex" }, ports.signer)).toBeDefined();
    expect(await explainUnverified({ ...manifest, client: null }, ports.signer)).toBeDefined();
  });

  it("is not verified if its signature was made for a chain, even if the chain has the same digest", async () => {
    const { digest = "", seal = "" } = await checkExport(exported, { isTrusted: false });
    expect(await ports.signer.verify(digest, seal)).toBe(false);
    const ofChain = await ports.signer.sign(digest);
    const manifest = { ...(await checkExport(exported, { isTrusted: false })), seal: ofChain };
    expect(await explainUnverified(manifest, ports.signer)).toBeDefined();
  });

  it("is not verified after a line is changed, dropped, repeated or moved, even if its manifest was changed to match", {
    tags: ["deep"],
  }, async () => {
    const [first = "", second = ""] = items;
    for (const [index, line] of items.entries()) {
      const around = (middle: readonly string[]) => [...items.slice(0, index), ...middle, ...items.slice(index + 1)];
      const alterations = {
        changed: around([line.replace(/"format":\{"N":"1"\}|"S":"/, (text) => text.replace(/1|"S":"/, "$&2"))]),
        dropped: around([]),
        repeated: around([line, line]),
        swapped: line === first ? [second, first, ...items.slice(2)] : around([]).toSpliced(0, 0, line),
      };
      for (const [what, lines] of Object.entries(alterations)) {
        const folder = await forged(lines);
        const manifest = await checkExport(folder, { isTrusted: false });
        expect(await explainUnverified(manifest, ports.signer), `${what} ${line}`).toMatch(/or was changed/);
        await rm(folder, { recursive: true });
      }
    }
    const same = await checkExport(await forged(items), { isTrusted: false });
    expect(await explainUnverified(same, ports.signer)).toBeUndefined();
  });

  it("is restored with its runs and audit records, but without API keys, if the importing deployment signs with the same key", async () => {
    const dataDir = join(root, "restored");
    await restoreSecrets(dataDir, await readSecrets(join(root, "one")));
    process.env.NOVA_DATA_DIR = dataDir;
    try {
      await importAll.run([exported], {});
      await withCloud(async ({ service }) => {
        const [acme, globex] = runs as [Execution, Execution];
        expect((await verifyExecution(service, acme.id)).state).toBe("anchored");
        expect(await service.executions.get(globex.id)).toBeUndefined();
        expect(await service.keys.list({ limit: 9 })).toEqual([]);
        expect((await service.audit.list({ client: "acme", limit: 9 })).length).toBeGreaterThan(0);
        expect((await service.workflows.latest("told"))?.version).toBe(1);
      });
    } finally {
      delete process.env.NOVA_DATA_DIR;
    }
  });
});

describe("an unverified export", () => {
  it("is restored only if the user allows it", async () => {
    process.env.NOVA_DATA_DIR = join(root, "three");
    try {
      const forgedKey = await forged([...items, keyItem()], { client: null });
      for (const folder of [exported, forgedKey]) {
        await expect(importAll.run([folder], {})).rejects.toThrow(
          /is not verified: .* add --unverified: then nothing proves/,
        );
      }
      await importAll.run([exported], { unverified: true });
      await withCloud(async ({ service }) => {
        const [{ id } = { id: "" }] = runs;
        expect((await service.executions.get(id))?.client).toBe("acme");
        expect(await service.keys.list({ limit: 9 })).toEqual([]);
      });
    } finally {
      delete process.env.NOVA_DATA_DIR;
    }
  });

  it("of one client restores only that client's records, even if its manifest says that it is a full export", async () => {
    const folder = await forged([...items, keyItem(), keyItem({ client: undefined })], { client: null });
    process.env.NOVA_DATA_DIR = join(root, "five");
    try {
      await importAll.run([folder], { unverified: true });
      await withCloud(async ({ service }) => {
        expect((await service.executions.get(runs[0]?.id ?? ""))?.client).toBe("acme");
        expect(await service.keys.list({ limit: 9 })).toEqual([]);
        expect(await service.audit.list({ client: "acme", limit: 9 })).toEqual([]);
      });
    } finally {
      delete process.env.NOVA_DATA_DIR;
    }
  });

  it("of several clients, or of no client, is restored completely only if the user allows it", async () => {
    const several = await forged([...items, execution({ client: "globex", clientKey: "C#globex" }), keyItem()], {
      client: null,
    });
    const checked = { client: null, isVerified: false };
    const { service } = cloud;
    await expect(restore(service, several, checked)).rejects.toThrow(/records of 2 clients - .* add --everything/);
    await expect(restore(service, await forged([], { client: null }), checked)).rejects.toThrow(/records of no client/);
    process.env.NOVA_DATA_DIR = join(root, "six");
    try {
      await importAll.run([several], { unverified: true, everything: true });
      await withCloud(async ({ service }) => expect(await service.keys.list({ limit: 9 })).toHaveLength(2));
    } finally {
      delete process.env.NOVA_DATA_DIR;
    }
  });

  it("without a signature is restored if the user allows it", async () => {
    const folder = await forged(items, { digest: undefined, seal: undefined });
    const manifest = await checkExport(folder, { isTrusted: true });
    expect(await explainUnverified(manifest, ports.signer)).toMatch(/it has no signature: NOVA wrote it/);
    process.env.NOVA_DATA_DIR = join(root, "four");
    try {
      await expect(importAll.run([folder], {})).rejects.toThrow(/add --unverified/);
      await importAll.run([folder], { unverified: true });
      const [{ id } = { id: "" }] = runs;
      await withCloud(async ({ service }) => {
        expect((await verifyExecution(service, id)).state).toBe("broken");
      });
    } finally {
      delete process.env.NOVA_DATA_DIR;
    }
  });

  const secret = "s3cret";

  function keyItem(more: object = {}): string {
    const id = `key_${"1".repeat(26)}`;
    const attributes = { id, format: 1, role: "admin", name: "eve", client: "acme", hash: secret };
    return itemOf("key", { pk: `K#${id}`, sk: "K", clientKey: "KEYS", ordered: id, ...attributes, ...more });
  }

  function itemOf(entity: string, attributes: object): string {
    const values = Object.entries({ ...attributes, __edb_e__: entity, __edb_v__: "1" });
    const typed = (value: unknown) => (typeof value === "number" ? { N: String(value) } : { S: value });
    return JSON.stringify(Object.fromEntries(values.map(([name, value]) => [name, typed(value)])));
  }

  const execution = (more: object = {}) => {
    const id = "exec_01EVE";
    const known = { id, format: 1, workflowId: "told", version: 1, client: "acme", root: id, status: "completed" };
    const keys = { pk: `E#${id}`, sk: "E", workflowKey: "W#told", clientKey: "C#acme", ordered: `2026#${id}` };
    return itemOf("execution", { ...known, ...keys, startedAt: "2026", stateMachineArn: "arn", ...more });
  };
  const link = (id: string) =>
    itemOf("link", { pk: `C#${id}`, sk: "L##0000000099#1", partition: id, scope: "", seq: 99, kind: "1", format: 1 });
  const audit = { pk: "A", sk: "A#01EVE", id: "01EVE", client: "acme", clientKey: "A#acme", ordered: "01EVE" };
  const version = { pk: "W#told", sk: "V#0000000009", workflowId: "told", version: 9, hash: "0", format: 1 };
  const delivery = { pk: "DELIVERY#1", sk: "DELIVERY", key: "1", client: "acme", clientKey: "DELIVERY#acme" };
  const generation = { workflowId: "told", node: "n", client: "acme", key: "k", codeHash: "h" };

  it.each<[string, () => string | string[]]>([
    ["an API key", keyItem],
    [
      "an API key that is declared as a run",
      () => keyItem({ __edb_e__: "execution" }).replace('"S":"key"', '"S":"execution"'),
    ],
    ["an API key without a kind", () => keyItem().replace('"__edb_e__"', '"kind"')],
    ["an API key that is declared as the client", () => keyItem({ slug: "acme" }).replace('"S":"key"', '"S":"client"')],
    ["an audit record", () => itemOf("audit", audit)],
    ["another client's run", () => execution({ client: "globex", clientKey: "C#globex" })],
    ["a run on another client's list", () => execution({ clientKey: "C#globex" })],
    ["a run in another workflow's list", () => execution({ workflowKey: "W#other" })],
    ["a run that is still in progress", () => execution({ status: "running", open: "open" })],
    ["an entry of another client's run", () => link(runs[1]?.id ?? "")],
    ["an entry of a run that does not exist", () => link("exec_01NOBODY")],
    ["an entry of a run that is still in progress", () => [execution({ open: "open" }), link("exec_01EVE")]],
    ["a version that no run used", () => itemOf("version", { ...version, pk: "W#new", workflowId: "new" })],
    ["the state of a workflow", () => itemOf("workflow-state", { pk: "W#told", sk: "STATE", workflowId: "told" })],
    [
      "a trigger",
      () => itemOf("trigger", { pk: "TRIGGER#webhook/x", sk: "TRIGGER", key: "webhook/x", client: "acme" }),
    ],
    ["a delivery", () => itemOf("delivery", delivery)],
    ["code for a node", () => itemOf("generation", { pk: "G#told", sk: "N#n#acme#k#h", ...generation })],
    ["another client", () => itemOf("client", { pk: "CLIENT#globex2", sk: "CLIENT", slug: "globex2" })],
    ["a credential of a workflow", () => credential("workflow:told")],
    ["another client's credential", () => credential("client:globex")],
    ["a place in a queue", () => itemOf("ticket", { pk: "Q#client:acme", sk: "T#x", client: "acme" })],
    ["a record of an unknown kind", () => itemOf("constructor", { pk: "X", sk: "X", client: "acme" })],
  ])("of one client does not restore %s", { tags: ["deep"] }, async (_, made) => {
    const news = [made()].flat();
    const { added, restored } = await restoredInto([...items, ...news]);
    expect(added).toEqual([]);
    expect(restored.leftOut).toBeGreaterThanOrEqual(news.length);
  });

  const credential = (owner: string) =>
    itemOf("credential", { pk: `S#${owner}`, sk: "N#stripe", owner, name: "stripe", clientKey: "CREDENTIALS" });

  it("of one client restores the run of this client, but not a version that would become the latest for all clients", async () => {
    const { added } = await restoredInto([...items, execution({ version: 9 }), itemOf("version", version)]);
    expect(added.map((line) => JSON.parse(line).pk.S)).toEqual(["E#exec_01EVE"]);
  });

  it("of one client is refused completely if it contains another client's run", async () => {
    const id = runs[1]?.id ?? "";
    const stolen = execution({ id, pk: `E#${id}`, root: id });
    const folder = await forged([stolen, link(id), ...items]);
    const restoring = restore(ports, folder, { client: "acme", isVerified: false });
    await expect(restoring).rejects.toThrow(/is another client's here - nothing was restored/);
    expect((await ports.executions.get(id))?.client).toBe("globex");
  });

  it("of one client restores no objects of other clients, and no definition that the client's runs do not use", async () => {
    const { archive } = ports;
    const put: string[] = [];
    const watching = { archive: { ...archive, putObject: async (key: string) => void put.push(key) } };
    const folder = await forged(items);
    const own = linesOf(await readFile(join(folder, "objects.ndjson"), "utf8"));
    const others = [`blobs/globex/exec_1/${"0".repeat(64)}`, `workflows/other/${"0".repeat(64)}.json`];
    const lines = others.map((key) => JSON.stringify({ key, bytes: 1, sha256: "0".repeat(64) }));
    await writeFile(join(folder, "objects.ndjson"), [...own, ...lines].join("\n"));
    await restore(watching, folder, { client: "acme", isVerified: true });
    expect(put).toEqual(own.map((line) => JSON.parse(line).key).filter((key) => key.startsWith("blobs/acme/")));
    expect(put).not.toEqual([]);
  });

  async function restoredInto(lines: readonly string[]) {
    const before = new Set(await stored(ports));
    const folder = await forged(lines);
    await checkExport(folder, { isTrusted: true });
    const restored: Restored = await restore(ports, folder, { client: "acme", isVerified: false });
    return { added: (await stored(ports)).filter((line) => !before.has(line)), restored };
  }

  async function stored({ archive }: ServicePorts): Promise<string[]> {
    const records: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await archive.page(cursor === undefined ? {} : { cursor });
      for (const one of page.records) if (one.kind === "item") records.push(one.item);
      cursor = page.cursor;
      if (cursor === undefined) return records;
    }
  }
});
