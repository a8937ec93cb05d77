import { beforeAll, describe, expect, it, vi } from "vitest";
import { ChainEntry } from "../../../functions/api/schemas/chain.ts";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

beforeAll(async () => {
  await api.call("POST /workflows", { body: asking });
});

async function begin(): Promise<string> {
  return (await api.call("POST /workflows/asking/execute")).body.execution_id;
}

/** Starts a run, waits until it has an open task, and returns the id of the run. */
async function waiting(): Promise<string> {
  const id = await begin();
  await vi.waitFor(async () => expect((await api.call(`GET /executions/${id}`)).body.status).toBe("waiting"), 20_000);
  return id;
}

async function tagOf(request: string): Promise<string> {
  const { status, headers } = await api.call(request);
  expect(status).toBe(200);
  return headers.get("etag") as string;
}

const known = (tag: string) => ({ headers: { "if-none-match": tag } });

describe.each(["", "/chain"])("the ETag of GET /executions/{id}%s", (path) => {
  it("stays the same until the execution changes", async () => {
    const id = await waiting();
    const request = `GET /executions/${id}${path}`;
    const tag = await tagOf(request);
    expect(tag).toMatch(/^"[\w-]{43}"$/);
    expect(await api.call(request, known(tag))).toMatchObject({ status: 304, text: "" });
    expect(await api.call(request, known(`"other", W/${tag}`))).toMatchObject({ status: 304 });
    await api.call(`POST /executions/${id}/answer`, { body: { choice: "approved" } });
    await vi.waitFor(
      async () => expect((await api.call(`GET /executions/${id}`)).body.status).toBe("completed"),
      20_000,
    );
    expect((await api.call(request, known(tag))).status).toBe(200);
    const last = await tagOf(request);
    expect(await api.call(request, known(last))).toMatchObject({ status: 304 });
  });

  it("depends on the query parameters", async () => {
    const id = await waiting();
    const query = path === "" ? "?references" : "?full";
    const tag = await tagOf(`GET /executions/${id}${path}`);
    expect((await api.call(`GET /executions/${id}${path}${query}`, known(tag))).status).toBe(200);
  });

  it("is computed without a read of the chain if the run has ended", async () => {
    const id = await waiting();
    await api.call(`POST /executions/${id}/cancel`);
    const request = `GET /executions/${id}${path}`;
    await vi.waitFor(async () => expect((await api.ports.executions.get(id))?.open).toBe(false), 20_000);
    const tag = await tagOf(request);
    const [tip, links] = [vi.spyOn(api.ports.chain, "tip"), vi.spyOn(api.ports.chain, "links")];
    // The cloud may still read the chain after the end of the run. Therefore this test repeats the request until it
    // counts no other reads.
    await vi.waitFor(async () => {
      vi.clearAllMocks();
      expect((await api.call(request, known(tag))).status).toBe(304);
      expect([tip.mock.calls, links.mock.calls]).toEqual([[], []]);
    }, 20_000);
    vi.restoreAllMocks();
  });

  it("causes no 304 for an API key of another client, which gets a 404", async () => {
    const id = await waiting();
    const tag = await tagOf(`GET /executions/${id}${path}`);
    await api.call("POST /clients", { body: { slug: `other-${path.length}`, name: "Other" } });
    const key = await api.key("viewer", `other-${path.length}`);
    expect((await api.call(`GET /executions/${id}${path}`, { key, ...known(tag) })).status).toBe(404);
  });
});

it("the ETag of an execution changes while its branches continue after a fork", async () => {
  const fork = {
    id: "fork",
    nodes: [
      { id: "start", type: "start" },
      { id: "all", type: "action", code: "pass" },
      ...["a", "b"].map((id) => ({ id, type: "approval", message: "Go on?" })),
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "all" },
      ...["a", "b"].flatMap((to) => [
        { from: "all", to },
        ...["approved", "rejected", "timeout"].map((condition) => ({ from: to, to: "end", condition })),
      ]),
    ],
  };
  expect((await api.call("POST /workflows", { body: fork })).status).toBe(201);
  const id = (await api.call("POST /workflows/fork/execute")).body.execution_id;
  const request = `GET /executions/${id}/chain`;
  await vi.waitFor(async () => expect((await api.call(`GET /executions/${id}`)).body.at_work.count).toBe(2), 20_000);
  const tag = await tagOf(request);
  expect((await api.call(request, known(tag))).status).toBe(304);
  await api.call(`POST /executions/${id}/answer`, { body: { node: "a", choice: "approved" } });
  await vi.waitFor(async () => expect((await api.call(request, known(tag))).status).toBe(200), 20_000);
}, 60_000);

it("the schema of the OpenAPI document contains every field of all entries, even of entries of branches and failures", async () => {
  const each = {
    id: "each",
    type: "map",
    items: "list",
    tolerated_failures: "100%",
    nodes: [{ id: "half", type: "action", code: "context['half'] = 1 / context['item']" }],
    edges: [],
  };
  const workflow = {
    id: "halves",
    nodes: [
      { id: "start", type: "start" },
      { id: "list", type: "action", code: "context['list'] = [0, 2]" },
      each,
      { id: "end", type: "end" },
    ],
    edges: [
      { from: "start", to: "list" },
      { from: "list", to: "each" },
      { from: "each", to: "end" },
    ],
  };
  expect((await api.call("POST /workflows", { body: workflow })).body).toMatchObject({ status: "ready" });
  const { execution_id: id } = (await api.call("POST /workflows/halves/execute?wait=25")).body;
  const { items } = (await api.call(`GET /executions/${id}/chain?full`)).body;
  expect(items.map((entry: unknown) => ChainEntry.parse(entry))).toEqual(items);
  expect(JSON.stringify(items)).toContain("ZeroDivisionError");
}, 60_000);
