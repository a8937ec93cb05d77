import { isRootSigned, readInclusion, readRoot, sha256 } from "@nova/engine";
import { createTimeStamper } from "@nova/service/adapters";
import { createOutgoing } from "@nova/service/outgoing";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { logger } from "../../../functions/app.ts";
import { useServer } from "../../cli/support/on-server.ts";
import { inARow } from "../../support/cloud.ts";
import { openTsa } from "../../support/tsa/open-tsa.ts";
import { useApi } from "./support/api.ts";

const api = useApi();
const { nova, onServer } = useServer(api);

beforeAll(async () => {
  await api.call("POST /workflows", { body: inARow("proved", { one: 'context["a"] = 1' }) });
});

async function run(): Promise<string> {
  const { body } = await api.call("POST /workflows/proved/execute", { body: {} });
  await api.cloud.untilEnd(body.execution_id);
  return body.execution_id;
}

const make = (headers = {}) => api.call("POST /roots", { headers });
const list = async (query = "") => (await api.call(`GET /roots${query}`)).body;

describe("the roots of closed runs", () => {
  it("do not exist before a run has closed", async () => {
    const { status, body } = await make();
    expect([status, body.detail]).toEqual([
      409,
      "no run has closed yet, so there is nothing to prove - run a workflow first",
    ]);
    expect(await list()).toEqual({ items: [], next_cursor: null });
    expect((await onServer("roots")).out).toContain("no roots");
  });

  it("are made on request, and each root is for all runs that have closed since the previous root", async () => {
    const runs = [await run(), await run()];
    const { status, body: root } = await make();
    expect([status, root.number, root.size, root.previous, root.stamped_at, root.delay_ms]).toEqual([
      201,
      1,
      2,
      null,
      null,
      null,
    ]);
    const { number, text, signature } = root;
    const { keyPair } = api.ports;
    expect(await isRootSigned(keyPair, readRoot({ number, text, signature }))).toBe(true);
    for (const id of runs) {
      expect((await readInclusion(api.ports, id))?.root).toEqual({ text, signature });
      expect((await api.call(`GET /executions/${id}/verify`)).body.state).toBe("anchored");
    }
    const again = await make();
    expect([again.status, again.body]).toEqual([200, root]);
  });

  it("get only one new root if a request is repeated with its Idempotency-Key", async () => {
    await run();
    const headers = { "idempotency-key": "a root" };
    const first = await make(headers);
    await run();
    expect([first.status, (await make(headers)).body]).toEqual([201, first.body]);
    expect((await make()).body.number).toBe(first.body.number + 1);
  });

  it("are listed page by page, the newest first, and each names the previous root", async () => {
    const { items } = await list();
    expect(items.map(({ number }: { number: number }) => number)).toEqual([3, 2, 1]);
    expect(items[0].previous).toBe(sha256(items[1].text));
    const first = await list("?limit=2");
    const rest = await list(`?limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...rest.items, rest.next_cursor]).toEqual([...items, null]);
  });

  it("are hidden from an API key for one client, because they cover the runs of all clients", async () => {
    const key = await api.key("admin", "default");
    for (const request of ["GET /roots", "POST /roots"]) expect((await api.call(request, { key })).status).toBe(403);
  });

  it("get their missing time stamps at the next request for a root if the authority answers again", async () => {
    await using tsa = await openTsa();
    api.ports.timeStamper = createTimeStamper(createOutgoing({ allowsPrivate: true }), tsa.url);
    const id = await run();
    tsa.conduct = "fail";
    const warn = vi.spyOn(logger, "warn");
    expect((await make()).body.stamped_at).toBeNull();
    expect(warn).toHaveBeenCalledWith("roots without a time stamp", {
      reason: expect.stringContaining("answered 503"),
    });
    tsa.conduct = "stamp";
    const { status, body } = await make();
    expect([status, body.number]).toEqual([200, 4]);
    expect(Date.parse(body.stamped_at)).toBeGreaterThan(Date.parse(body.at) - 1_000);
    const { items } = await list();
    expect(items.map(({ stamped_at }: { stamped_at: string | null }) => stamped_at)).not.toContain(null);
    expect(items.every(({ delay_ms }: { delay_ms: number }) => delay_ms >= 0)).toBe(true);
    const token = Buffer.from((await readInclusion(api.ports, id))?.stamp?.token ?? "", "base64");
    expect(token.includes(Buffer.from(sha256(body.text), "hex"))).toBe(true);
    delete api.ports.timeStamper;
  });

  it("stay unchanged when a run is erased, and the index of the run in its tree also stays unchanged", async () => {
    const id = await run();
    await make();
    const before = await readInclusion(api.ports, id);
    await api.call(`POST /executions/${id}/erase`);
    expect(await readInclusion(api.ports, id)).toEqual(before);
    expect((await api.call(`GET /executions/${id}/verify`)).body.state).toBe("anchored");
  });

  it("are not part of an export, because they belong to this deployment", async () => {
    const kinds = new Set<string>();
    for (let cursor: string | undefined; ; ) {
      const page = await api.ports.archive.page(cursor === undefined ? {} : { cursor });
      for (const one of page.records) {
        kinds.add(one.kind === "item" ? one.entity : (one.key.split("/")[0] as string));
        if (one.kind === "item") expect(one.item).not.toContain("N#root");
      }
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    expect(kinds).toContain("link");
    for (const kind of ["leaf", "root", "stamp", "proofs"]) expect(kinds).not.toContain(kind);
  });
});

describe("nova roots", () => {
  it("makes a root, and lists all roots", async () => {
    await run();
    const made = await onServer("roots", "--now");
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^root 6 of 20\S+Z: 1 run, not stamped/)]);
    const { items } = JSON.parse((await nova("roots", "--json", "--limit", "2")).out);
    expect(items.map(({ number }: { number: number }) => number)).toEqual([6, 5]);
    expect((await onServer("roots")).out).toMatch(/root +when +runs +stamped +tree/);
  });
});
