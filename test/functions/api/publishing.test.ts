import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publishVersion } from "@nova/service";
import { workflowHash } from "@nova/workflow";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serverSource, writeExport } from "../../../packages/cli/src/archive/export.ts";
import { checkExport, explainUnverified } from "../../../packages/cli/src/archive/import.ts";
import { createExactClient } from "../../../packages/mcp/src/exact-client.ts";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
const queued: { workflow: string; version: number }[] = [];
const slow = { ...asking, id: "slow" };

let slept = 0;

beforeAll(() => {
  api.ports.clock = {
    now: () => Date.now() + slept,
    sleep: async (ms) => {
      slept += ms;
    },
  };
  api.ports.publishQueue = { enqueue: async (version) => void queued.push(version) };
});

afterAll(() => {
  delete api.ports.publishQueue;
});

describe("a workflow version in the queue of publications", () => {
  it("gets status 202 and cannot run until it is ready", async () => {
    const made = await api.call("POST /workflows", { body: slow });
    expect([made.status, made.body]).toEqual([202, { id: "slow", version: 1, status: "publishing" }]);
    expect((await api.call("GET /workflows/slow")).body).toMatchObject({ status: "publishing", active_version: null });
    await expectRefusal(api.call("POST /workflows/slow/execute", { body: {} }), 409, /is being published - try again/);
    expect((await api.call("DELETE /workflows/slow")).status).toBe(409);
    for (const { workflow, version } of queued) await publishVersion(api.ports, { workflowId: workflow, version });
    expect((await api.call("GET /workflows/slow")).body).toMatchObject({ status: "ready", active_version: 1 });
    expect((await api.call("POST /workflows/slow/execute", { body: {} })).status).toBe(202);
  });

  it("fails with the reason if Step Functions refuses it, and the previous version stays active", async () => {
    const { publish } = api.ports.stateMachines;
    await api.call("POST /workflows", { body: { ...slow, name: "Slower" } });
    api.ports.stateMachines.publish = async () => {
      throw Object.assign(new Error("too many states"), { name: "InvalidDefinition" });
    };
    await publishVersion(api.ports, { workflowId: "slow", version: 2 });
    api.ports.stateMachines.publish = publish;
    const { body } = await api.call("GET /workflows/slow");
    expect(body).toMatchObject({ version: 2, status: "failed", active_version: 1 });
    expect(body.reason).toMatch(/InvalidDefinition: too many states/);
    const { body: versions } = await api.call("GET /workflows/slow/versions");
    expect(versions.items.map(({ status }: { status: string }) => status)).toEqual(["failed", "ready"]);
    expect((await api.call("POST /workflows/slow/activate", { body: { version: 2 } })).status).toBe(409);
    expect((await api.call("POST /workflows/slow/execute", { body: {} })).status).toBe(202);
  });
});

describe("a client's export", () => {
  const clientWith = (apiKey: string) => createExactClient({ url: api.url, apiKey, fetch });

  it("comes in pages, with the stored items and with URLs of the objects", async () => {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    const context = { letter: "a".repeat(9000) };
    await api.call("POST /workflows/slow/execute", { body: { client_slug: "acme", context } });
    const records: { kind: string; entity?: string; item?: object; url?: string }[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await api.call(`GET /clients/acme/export${cursor}`);
      records.push(...body.items);
      if (body.next_cursor === null) break;
      cursor = `?cursor=${body.next_cursor}`;
    }
    const kinds = new Set(records.map(({ kind, entity }) => entity ?? kind));
    for (const kind of ["client", "execution", "link", "version", "object"]) expect(kinds).toContain(kind);
    const { url = "" } = records.find(({ kind }) => kind === "object") ?? {};
    expect(await (await fetch(url)).text()).toBe("a".repeat(9000));
    const { body: audit } = await api.call("GET /audit");
    expect(audit.items.filter(({ action }: { action: string }) => action === "client.exported")).toHaveLength(1);
  });

  it("is written to a folder by nova export with an admin's key, and is refused with a reason with a viewer's key", async () => {
    const folder = await mkdtemp(join(tmpdir(), "nova-export-"));
    const write = (key: string, name: string) =>
      writeExport(serverSource(clientWith(key), "acme"), join(folder, name), { client: "acme" });
    try {
      const written = await write(await api.key("admin", "acme"), "all");
      expect(written).toMatchObject({ client: "acme", objects: 1 });
      expect(written.items).toBeGreaterThan(4);
      const lines = (await readFile(join(folder, "all", "items.ndjson"), "utf8")).trimEnd().split("\n");
      expect(lines).toHaveLength(written.items);
      await write(await api.key("admin"), "by-all");
      for (const name of ["all", "by-all"]) {
        const manifest = await checkExport(join(folder, name), { isTrusted: false });
        expect(await explainUnverified(manifest, api.ports.signer)).toBeUndefined();
      }
      await expect(write(await api.key("viewer"), "none")).rejects.toThrow(/needs the role admin/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("continues from a cursor only with the same API key, and only if the cursor is unchanged", async () => {
    const { body: first } = await api.call("GET /clients/acme/export");
    const cursor = JSON.parse(Buffer.from(first.next_cursor, "base64url").toString());
    const texts = [
      { ...cursor, digest: "0".repeat(64) },
      { ...cursor, at: '{"prefix":1}' },
      { ...cursor, signature: `${"A".repeat(43)}=` },
    ].map((one) => Buffer.from(JSON.stringify(one)).toString("base64url"));
    const call = (text: string, key?: string) =>
      api.call(`GET /clients/acme/export?cursor=${text}`, key === undefined ? {} : { key });
    for (const text of texts) expect((await call(text)).status).toBe(422);
    expect((await call(first.next_cursor, await api.key("admin", "acme"))).status).toBe(422);
    expect((await call(first.next_cursor)).status).toBe(200);
    const from = Buffer.from('{"prefix":1,"after":"blobs/zzz"}').toString("base64url");
    expect((await call(from)).body).toEqual({ items: [], next_cursor: null });
  });

  it("hides the data of other clients in definitions from an API key of the client, and can be verified", async () => {
    const on_failure = { mail: ["ops@globex.example"] };
    for (const [id, letters, name] of [
      ["short", 10, "globex-hook"],
      ["long", 9000, "globex-hook"],
      ["long", 9000, "globex-other"],
    ] as const) {
      const mine = { type: "webhook", id: `${id}-acme-hook`, client: "acme" };
      const triggers = [mine, { type: "webhook", id: `${id}-${name}`, client: "globex" }];
      const description = "#".repeat(letters);
      await api.call("POST /workflows", { body: { ...slow, id, description, triggers, on_failure } });
    }
    for (const { workflow, version } of queued) await publishVersion(api.ports, { workflowId: workflow, version });
    const folder = await mkdtemp(join(tmpdir(), "nova-export-"));
    const textOf = async (name: string, key: string) => {
      const at = join(folder, name);
      await writeExport(serverSource(clientWith(key), "acme"), at, { client: "acme" });
      const items = await readFile(join(at, "items.ndjson"), "utf8");
      const keys = (await readFile(join(at, "objects.ndjson"), "utf8")).match(/workflows[^"]+/g) ?? [];
      keys.splice(0, keys.length, ...new Set(keys));
      const objects = await Promise.all(keys.map((path) => readFile(join(at, "objects", path), "utf8")));
      return { items, objects, keys };
    };
    try {
      const [whole, own] = [
        await textOf("whole", await api.key("admin")),
        await textOf("own", await api.key("admin", "acme")),
      ];
      expect([whole.objects.length, own.objects.length]).toEqual([2, 1]);
      for (const text of [whole.items, ...whole.objects])
        for (const name of ["-globex-", "ops@globex"]) expect(text).toContain(name);
      for (const text of [own.items, ...own.objects]) {
        expect(text).toContain("acme-hook");
        expect(text).not.toContain("globex");
      }
      const definitions = own.items.match(/"definition":\{"S":"(?:[^"\\]|\\.)*"/g) ?? [];
      const texts = definitions.map((one) => JSON.parse(`{${one}}}`).definition.S as string);
      const hashes = [...texts, ...own.objects].map((text) => workflowHash(JSON.parse(text)));
      for (const hash of hashes) expect(own.items).toContain(`"hash":{"S":"${hash}"}`);
      expect(own.keys).toEqual([`workflows/long/${hashes.at(-1)}.json`]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    { prefix: 0, token: "x" },
    { prefix: 2 },
    { prefix: 0, after: "blobs/acme/x" },
    { prefix: 1, after: "workflows/slow/x.json" },
    { prefix: 0, after: `workflows/${"a".repeat(1024)}` },
    { prefix: 0, after: "workflows/\ud800" },
    { prefix: 0, after: 7 },
  ])("refuses a cursor with the position %j, which no page returns", async (place) => {
    const text = Buffer.from(JSON.stringify(place)).toString("base64url");
    const { status, body } = await api.call(`GET /clients/acme/export?cursor=${text}`);
    expect([status, body.errors[0].message]).toEqual([400, "the cursor is unknown - use a `next_cursor`"]);
  });

  it("continues after an object that was deleted since the previous page", async () => {
    const text = Buffer.from(JSON.stringify({ prefix: 0, after: "workflows/zzz/0.json" })).toString("base64url");
    const { status, body } = await api.call(`GET /clients/acme/export?cursor=${text}`);
    expect([status, body.items]).toEqual([200, []]);
  });

  it.each(["abc", "e30", "eyJwcmVmaXgiOjd9", "a.b"])("refuses the cursor %s", async (cursor) => {
    const { status, body } = await api.call(`GET /clients/acme/export?cursor=${cursor}`);
    expect([status, body.errors[0].message]).toEqual([400, "the cursor is unknown - use a `next_cursor`"]);
  });

  const key = { pk: { S: "a" }, sk: { S: "b" } };

  it.each([
    {},
    { zz: { S: "q" } },
    { pk: { S: "a" } },
    { ...key, zz: { S: "q" } },
    { ...key, sk: { S: "" } },
    { ...key, pk: { S: "a".repeat(2049) } },
    { ...key, sk: { S: "ä".repeat(513) } },
    { ...key, sk: { S: "\ud800" } },
    { ...key, sk: { S: "b", N: "1" } },
  ])("refuses a cursor that no page returns, and so does the list of formats (%#)", async (place) => {
    for (const [path, cursor] of [["/clients/acme/export", { after: place }] as const, ["/formats", place] as const]) {
      const text = Buffer.from(JSON.stringify(cursor)).toString("base64url");
      const { status, body } = await api.call(`GET ${path}?cursor=${text}`);
      expect([status, body.errors[0].message]).toEqual([400, "the cursor is unknown - use a `next_cursor`"]);
    }
  });

  it("continues after an item with long keys, and so does the list of formats", async () => {
    const after = { pk: { S: "a".repeat(1400) }, sk: { S: "b".repeat(800) } };
    for (const [path, cursor] of [["/clients/acme/export", { after }] as const, ["/formats", after] as const]) {
      const text = Buffer.from(JSON.stringify(cursor)).toString("base64url");
      expect((await api.call(`GET ${path}?cursor=${text}`)).status).toBe(200);
    }
  });
});

describe("a client during its erasure", () => {
  it("stays visible until the erasure ends, and no run starts for it", async () => {
    api.ports.erasureQueue = { enqueue: async () => undefined };
    expect((await api.call("DELETE /clients/acme")).status).toBe(202);
    const begun = await api.call("POST /workflows/slow/execute", { body: { client_slug: "acme" } });
    expect([begun.status, begun.body.detail]).toEqual([409, expect.stringMatching(/was deleted and is being erased/)]);
    delete api.ports.erasureQueue;
    expect((await api.call("DELETE /clients/acme")).status).toBe(202);
    expect((await api.call("GET /clients/acme")).status).toBe(404);
    const { body } = await api.call("GET /executions?client=acme");
    for (const { execution_id: id, status } of body.items) {
      expect(status).toBe("cancelled");
      expect((await api.call(`GET /executions/${id}/verify`)).body).toMatchObject({ state: "anchored" });
    }
  });
});
