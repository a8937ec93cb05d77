import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useApi } from "../functions/api/support/api.ts";
import { inARow } from "../support/cloud.ts";
import { type Connected, connectOverHttp, type Era, eras } from "./support/connect.ts";

const api = useApi();
let editor: Connected;
let viewer: Connected;

beforeAll(async () => {
  editor = await connectOverHttp(api.url, await api.key("editor"));
  viewer = await connectOverHttp(api.url, await api.key("viewer"));
  await api.cloud.publish(inARow("plain", { double: 'context["two"] = context["one"] * 2' }));
});
afterAll(async () => {
  await editor[Symbol.asyncDispose]();
  await viewer[Symbol.asyncDispose]();
});

const post = (body: unknown, headers: Record<string, string>) =>
  fetch(`${api.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

describe("POST /mcp", () => {
  it.each(Object.keys(eras) as Era[])("serves clients of the protocol %s", async (era) => {
    await using connected = await connectOverHttp(api.url, await api.key("runner"), era);
    const { verdict, context } = await connected.call("run", { workflow: "plain", context: '{"one":21}' });
    expect([verdict, JSON.parse(context)]).toEqual(["ok", { one: 21, two: 42 }]);
  });

  it("refuses a request without a key, and a request from a web page of another origin", async () => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await post(ping, {})).status).toBe(401);
    const authorization = `Bearer ${await api.key("viewer")}`;
    const accept = "application/json, text/event-stream";
    const foreign = await post(ping, { authorization, accept, origin: "https://evil.example.com" });
    expect([foreign.status, await foreign.json()]).toEqual([
      403,
      expect.objectContaining({
        error: expect.objectContaining({ message: expect.stringContaining("NOVA_CORS_ORIGINS") }),
      }),
    ]);
    const own = await post(ping, { authorization, accept, origin: "https://console.example.com" });
    expect(own.status).toBe(200);
  });

  it("offers no stream that a client could listen to for ever", async () => {
    const authorization = `Bearer ${await api.key("viewer")}`;
    const answer = await fetch(`${api.url}/mcp`, { headers: { authorization, accept: "text/event-stream" } });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("returns one sentence for a tool that needs a higher role than the key has", async () => {
    const operations = [{ op: "add_node", node: { id: "a", code: "pass" } }];
    const sentence = "this needs the role editor, the key has viewer - use a key of that role";
    expect(await viewer.refusal("edit", { operations })).toBe(sentence);
    expect(await viewer.refusal("publish", { example: "invoice" })).toBe(sentence);
    expect(await viewer.refusal("run", { workflow: "plain" })).toMatch(/^this needs the role runner/);
    expect(await viewer.call("find", { query: "plain" })).toMatchObject({ workflows: [{ id: "plain" }], drafts: [] });
  });

  it("shows no runs, drafts or resources of other clients", async () => {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    const { execution_id } = await editor.call("run", { workflow: "plain", context: '{"one":1}' });
    const { draft } = await editor.call("edit", { workflow: "plain", operations: [] });
    await using other = await connectOverHttp(api.url, await api.key("editor", "acme"));
    expect(await other.refusal("trace", { execution_id })).toMatch(/^there is no execution/);
    expect(await other.refusal("restart", { execution_id })).toMatch(/^there is no execution/);
    expect(await other.refusal("read", { draft })).toMatch(/^there is no session/);
    expect((await other.call("runs")).items).toEqual([]);
    expect((await other.call("find", { query: draft })).drafts).toEqual([]);
    await expect(other.client.readResource({ uri: `nova://executions/${execution_id}/context` })).rejects.toThrow();
    expect(await other.refusal("publish", { draft })).toMatch(/all clients share this|no session/);
  });
});

describe("a tool of POST /mcp", () => {
  it("keeps numbers exact, in its arguments and in its results", async () => {
    const context = '{"one":12345678901234567890,"price":1.10}';
    const ran = await editor.call("run", { workflow: "plain", context });
    expect(ran.context).toBe('{"one":12345678901234567890,"price":1.10,"two":24691357802469135780}');
    const { entries, detail } = await editor.call("trace", { execution_id: ran.execution_id, node: "double" });
    expect([entries[0].set, detail.found]).toEqual(['{"two":24691357802469135780}', context]);
    expect(await editor.refusal("run", { workflow: "plain", context: { one: 1 } })).toContain(
      'must be a JSON object as text, such as "{\\"total\\": 1.10}", so that numbers keep their digits',
    );
    const big = { op: "add_node", node: { id: "x", code: "pass", timeout: 2 ** 60 } };
    expect(await editor.refusal("edit", { operations: [big] })).toMatch(/has lost digits on its way/);
  });

  it("replaces a text that is too large by a link to a resource that contains the whole text", async () => {
    const context = JSON.stringify({ one: 1, large: randomBytes(40_000).toString("hex") });
    const asked = { name: "run", arguments: { workflow: "plain", context } };
    const { content, structuredContent } = await editor.client.callTool(asked);
    expect(JSON.stringify({ content, structuredContent }).length).toBeLessThan(20_000);
    expect(structuredContent).toMatchObject({ verdict: "ok", context: null });
    const link = content.find(({ type }) => type === "resource_link") as { uri: string };
    const { contents } = await editor.client.readResource({ uri: link.uri });
    const { text } = contents[0] as { text: string };
    expect(JSON.parse(text)).toEqual({ ...JSON.parse(context), two: 2 });
  });

  it("shows as many entries of a run in one result as fit into 20 KB", { tags: ["deep"] }, async () => {
    const code = 'context["k"] = "€" * 280\nraise ValueError("€" * 280)';
    const each = { id: "each", type: "map", items: "list", tolerated_failures: 30 };
    const node = { id: "work", type: "action", code };
    await api.cloud.publish({
      id: "wide",
      nodes: [
        { id: "start", type: "start" },
        { ...each, nodes: [node], edges: [] },
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "each" },
        { from: "each", to: "end" },
      ],
    });
    const list = Array.from({ length: 30 }, (_, index) => "€".repeat(200) + index);
    const { execution_id } = await editor.call("run", { workflow: "wide", context: JSON.stringify({ list }) });
    await api.cloud.untilEnd(execution_id);
    const seen: string[] = [];
    for (let cursor: string | null = "|0"; cursor !== null; ) {
      const page = await editor.call("trace", { execution_id, cursor });
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(20_480);
      seen.push(...page.entries.map(({ place }: { place: string }) => place));
      cursor = page.next_cursor;
    }
    expect(seen.filter((place) => place.includes("each@"))).toHaveLength(30);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("applies all operations of an edit, or none of them", async () => {
    const { draft, revision } = await editor.call("edit", { workflow: "plain", operations: [] });
    const change = { op: "change_node", id: "double", changes: { code: 'context["two"] = 2' } };
    const wrong = { op: "add_edge", from: "double", to: "nowhere" };
    expect(await editor.refusal("edit", { draft, operations: [change, wrong] })).toMatch(
      /^operation 2 of 2: the session has no node "nowhere"/,
    );
    const same = await editor.call("read", { draft });
    expect([same.revision, same.definition]).toEqual([revision, expect.stringContaining('context[\\"one\\"] * 2')]);
    const add = { op: "add_node", node: { id: "more", type: "action", code: 'context["more"] = totl' } };
    const edge = { op: "add_edge", from: "double", to: "more" };
    const edited = await editor.call("edit", { draft, revision, operations: [change, add, edge] });
    expect(edited.findings).toEqual([expect.objectContaining({ code: "NOVA602", severity: "error" })]);
    expect(await editor.refusal("edit", { draft, revision, operations: [change] })).toMatch(
      /is at revision \d+, and you have read/,
    );
    const gone = await editor.call("edit", { draft, operations: [{ op: "remove_node", id: "more" }] });
    expect(gone.findings).toEqual([]);
    const ran = await editor.call("run", { draft });
    expect([ran.verdict, JSON.parse(ran.context).double]).toEqual(["ok", { two: 2 }]);
  });

  it("reports inputs that do not fit as an invalid run with findings, and starts no run", async () => {
    await editor.call("publish", { example: "invoice" });
    const before = (await editor.call("runs", { workflow: "invoice" })).items.length;
    const ran = await editor.call("run", { workflow: "invoice", context: '{"limit":"x"}' });
    expect(ran).toMatchObject({ verdict: "invalid", execution_id: null, status: "refused" });
    expect(ran.findings.length).toBeGreaterThan(0);
    expect((await editor.call("runs", { workflow: "invoice" })).items.length).toBe(before);
  });

  it("lists the question of a waiting run, and answers it", async () => {
    await editor.call("publish", { example: "approval" });
    const asked = { workflow: "approval", context: '{"item":"desk","price":900}' };
    const { verdict, execution_id, next } = await editor.call("run", asked);
    expect([verdict, next]).toEqual(["waiting", expect.stringContaining("tasks")]);
    const { items } = await editor.call("tasks", { execution_id });
    expect(items).toMatchObject([{ node: "ask", message: "Buy desk for 900?", choices: ["approved", "rejected"] }]);
    const { task_id } = items[0];
    expect(await editor.refusal("answer", { task_id, choice: "maybe" })).toMatch(/approved/);
    const data = '{"cost_center":4711}';
    expect(await editor.call("answer", { task_id, choice: "approved", data, by: "Ann" })).toMatchObject({ missing: 0 });
    await api.cloud.untilEnd(execution_id);
    expect(await editor.call("trace", { execution_id })).toMatchObject({ verdict: "ok", status: "completed" });
  });

  it("tests a version on recorded runs, and never runs a node that may have effects", async () => {
    const version = (rate: string, more: object[] = []) => ({
      id: "tested",
      nodes: [
        { id: "start", type: "start" },
        { id: "rate", type: "action", code: `context["rate"] = ${rate}`, effects: false },
        ...more,
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "rate" },
        ...(more.length > 0 ? [{ from: "rate", to: "book" }] : []),
        { from: more.length > 0 ? "book" : "rate", to: "end" },
      ],
    });
    await api.cloud.run(await api.cloud.publish(version("1")), "{}");
    expect(await editor.call("test", { workflow: "tested" })).toMatchObject({ verdict: "passed" });
    await api.cloud.publish(version("2"));
    const differs = await editor.call("test", { workflow: "tested" });
    expect(differs).toMatchObject({ verdict: "differs", items: [{ differences: ["rate: rate"] }] });
    await api.cloud.publish(version("2", [{ id: "book", type: "action", code: 'context["booked"] = True' }]));
    const refused = await editor.call("test", { workflow: "tested" });
    expect(refused).toMatchObject({ verdict: "refused", items: [{ reason: expect.stringMatching(/book would run/) }] });
  });

  it("shows a long run page by page, and the documentation as resources", async () => {
    await api.cloud.publish(
      inARow(
        "long",
        Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`n${index}`, `context["k${index}"] = ${index}`])),
      ),
    );
    const { execution_id } = await editor.call("run", { workflow: "long" });
    const first = await editor.call("trace", { execution_id });
    expect(first.verdict).toBe("ok");
    const second = await editor.call("trace", { execution_id, cursor: first.next_cursor });
    const seen = [...first.entries, ...second.entries].map(({ node }: { node: string }) => node);
    expect(seen).toEqual(expect.arrayContaining(["start", "n0", "n13"]));
    expect(new Set(seen).size).toBe(seen.length);
    const { resources } = await editor.client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(
      expect.arrayContaining([
        "nova://docs/definition",
        "nova://docs/python",
        "nova://docs/findings",
        "nova://examples/invoice",
      ]),
    );
    for (const uri of uris) {
      const { contents } = await editor.client.readResource({ uri });
      expect((contents[0] as { text: string }).text.length).toBeGreaterThan(500);
    }
    await expect(editor.client.readResource({ uri: "nova://docs/nothing" })).rejects.toThrow(
      /there is no page "nothing"/,
    );
  });
});
