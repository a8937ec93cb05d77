import { beforeAll, describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";

const api = useApi();

beforeAll(async () => {
  for (const n of [1, 2]) await api.call("POST /workflows", { body: inARow("count", { one: `context["n"] = ${n}` }) });
});

describe("a client", () => {
  it("is created once, and can be read and renamed", async () => {
    const made = await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    expect([made.status, made.body]).toMatchObject([201, { slug: "acme", name: "Acme", pins: {} }]);
    expect((await api.call("POST /clients", { body: { slug: "acme", name: "Other" } })).status).toBe(409);
    const { body } = await api.call("PATCH /clients/acme", { body: { name: "Acme Ltd" } });
    expect(body).toEqual({ ...made.body, name: "Acme Ltd" });
    expect((await api.call("GET /clients/acme")).body).toEqual(body);
  });

  it("has a mail address and a webhook for reports of its failed runs", async () => {
    const on_failure = { mail: ["ops@example.com"], webhook: "https://pager.example.com/" };
    const { body } = await api.call("PATCH /clients/acme", { body: { on_failure } });
    expect(body.on_failure).toEqual({ mail: ["ops@example.com"], webhook: { url: "https://pager.example.com/" } });
    expect((await api.call("GET /clients/acme")).body).toEqual(body);
    const { status } = await api.call("PATCH /clients/acme", {
      body: { on_failure: { webhook: "ftp://a.example.com" } },
    });
    expect(status).toBe(422);
    const unnamed = { webhook: { url: "https://pager.example.com/", secret: "A B" } };
    const refused = await api.call("PATCH /clients/acme", { body: { on_failure: unnamed } });
    expect([refused.status, refused.body.errors]).toMatchObject([422, [{ path: "$.on_failure.webhook.secret" }]]);
    expect((await api.call("PATCH /clients/acme", { body: { on_failure: {} } })).body.on_failure).toEqual({});
  });

  it("has a separate sender address for mails, which API keys of this client cannot change", async () => {
    const change = (mail_from: unknown, key?: string) =>
      api.call("PATCH /clients/acme", { body: { mail_from }, ...(key !== undefined && { key }) });
    expect((await change("pay@acme.example.com")).body.mail_from).toBe("pay@acme.example.com");
    expect((await change("pay@acme.example.com\r\nBcc: a@b.c")).status).toBe(422);
    expect((await change("Acme <pay@acme.example.com>, a@b.c")).status).toBe(422);
    const ofAcme = await api.key("editor", "acme");
    expect((await change("boss@other.example.com", ofAcme)).status).toBe(403);
    expect((await change(null, ofAcme)).status).toBe(403);
    expect((await change(null)).body.mail_from).toBe(null);
    expect((await api.call("GET /clients/acme")).body.mail_from).toBe(null);
  });

  it("runs the workflow version that it has pinned, unless the caller names another version", async () => {
    await api.call("PATCH /clients/acme", { body: { pins: { count: 1 } } });
    const run = async (body: object) => (await api.call("POST /workflows/count/execute?wait=20", { body })).body;
    expect(await run({ client_slug: "acme" })).toMatchObject({ version: 1, client: "acme", context: { n: 1 } });
    expect(await run({ client_slug: "acme", version: 2 })).toMatchObject({ version: 2, context: { n: 2 } });
    expect(await run({})).toMatchObject({ version: 2, client: "default" });
  });

  it("has variables for the context of its runs, and values in a request override these variables", async () => {
    const variables = { company: "ACME", limit: 1000 };
    const { body } = await api.call("PATCH /clients/acme", { body: { variables } });
    expect(body.variables).toEqual(variables);
    expect((await api.call("GET /clients/acme")).body.variables).toEqual(variables);
    const run = (sent: object) => api.call("POST /workflows/count/execute?wait=20", { body: sent });
    const { body: own } = await run({ client_slug: "acme", context: { limit: 5 } });
    expect(own.context).toMatchObject({ company: "ACME", limit: 5 });
    expect((await run({})).body.context).not.toHaveProperty("company");
    expect((await api.call("PATCH /clients/acme", { body: { variables: {} } })).body.variables).toEqual({});
  });

  it("refuses variables that the context of a run cannot contain", async () => {
    const { status, body } = await api.call("PATCH /clients/acme", { body: { variables: { "1st": 1 } } });
    expect([status, body.detail]).toEqual([422, expect.stringMatching(/"1st" cannot be a name/)]);
  });

  it("gets an error about its pinned version after the workflow was deleted and published again", async () => {
    const publish = (n: number) =>
      api.call("POST /workflows", { body: inARow("renewed", { one: `context["n"] = ${n}` }) });
    await publish(1);
    await api.call("PATCH /clients/acme", { body: { pins: { renewed: 1 } } });
    await api.call("DELETE /workflows/renewed");
    const run = () => api.call("POST /workflows/renewed/execute", { body: { client_slug: "acme" } });
    expect((await run()).body).toMatchObject({ status: 404, detail: expect.stringMatching(/no workflow "renewed"/) });
    await publish(2);
    expect((await run()).body).toMatchObject({
      status: 422,
      detail: expect.stringMatching(/"acme" is pinned to version 1 of "renewed", which was deleted - PATCH/),
    });
    await api.call("PATCH /clients/acme", { body: { pins: {} } });
    expect((await run()).status).toBe(202);
  });

  it("is created once if the request is repeated with the same Idempotency-Key", async () => {
    const make = () =>
      api.call("POST /clients", { body: { slug: "twice", name: "Twice" }, headers: { "idempotency-key": "twice" } });
    const first = await make();
    expect([first.status, first.body.variables]).toEqual([201, {}]);
    expect(await make()).toMatchObject({ status: 201, body: first.body });
    await api.call("DELETE /clients/twice");
  });

  it("cannot be pinned to a version that does not exist", async () => {
    const { status, body } = await api.call("PATCH /clients/acme", { body: { pins: { count: 9 } } });
    expect([status, body.detail]).toEqual([422, expect.stringMatching(/"count" has no version 9/)]);
  });

  it.each([
    ["a slug in capitals", { slug: "Acme", name: "x" }, 422],
    ["no name", { slug: "acme2", name: "" }, 422],
    ["a name with terminal control characters", { slug: "acme2", name: "\u001b[2J" }, 422],
    ["the slug of the default client", { slug: "default", name: "x" }, 409],
  ])("with %s is refused", async (_what, body, status) => {
    expect((await api.call("POST /clients", { body })).status).toBe(status);
  });

  it.each([
    ["on_failure", { on_failure: { mail: ["ops@example.com"] } }],
    ["a name", { name: "Everybody" }],
  ])("cannot have %s if NOVA does not store the client, as with the default client", async (_what, body) => {
    await expectRefusal(
      api.call("PATCH /clients/default", { body }),
      422,
      'nothing is kept of "default", the client of runs without one - on_failure belongs into the definitions of their workflows, quotas to PUT /workflows/{id}/quotas; or make a client and start their runs for it',
    );
    const own = await api.key("editor", "acme");
    expect((await api.call("PATCH /clients/default", { body, key: own })).status).toBe(404);
  });

  it.each(["https://nova:hush@pager.example.com/", { url: "http://token@pager.example.com", secret: "pager" }])(
    "refuses a webhook whose URL contains a user or a password: %j",
    async (webhook) => {
      const { status, body, text } = await api.call("PATCH /clients/acme", { body: { on_failure: { webhook } } });
      expect([status, body.errors[0].message]).toEqual([
        422,
        expect.stringMatching(/^must name no user and no password/),
      ]);
      expect(text).not.toMatch(/hush|token@/);
    },
  );

  it("is in the list of clients, which comes in pages", async () => {
    for (const slug of ["b", "c"]) await api.call("POST /clients", { body: { slug, name: slug } });
    const { body: first } = await api.call("GET /clients?limit=2");
    const { body: second } = await api.call(`GET /clients?limit=2&cursor=${first.next_cursor}`);
    const slugs = [...first.items, ...second.items].map(({ slug }) => slug);
    expect([slugs, second.next_cursor]).toEqual([["acme", "b", "c"], null]);
  });
});

describe("the audit log", () => {
  it("lists actions with their authors, newest first, in pages", async () => {
    const { body: made } = await api.call("POST /keys", { body: { role: "editor", client_slug: "acme" } });
    await api.call("PATCH /clients/acme", { key: made.key, body: { name: "Acme" } });
    const { body: first } = await api.call("GET /audit?limit=1");
    expect(first.items).toMatchObject([
      { action: "client.changed", by: made.id, client_slug: "acme", subject: "acme", detail: {} },
    ]);
    const { body: second } = await api.call(`GET /audit?limit=1&cursor=${first.next_cursor}`);
    expect(second.items).toMatchObject([{ action: "key.created", subject: made.id, detail: { role: "editor" } }]);
  });

  it("lists publications and activations", async () => {
    await api.call("POST /workflows/count/activate", { body: { version: 1 } });
    const { body } = await api.call("GET /audit?limit=200");
    const deeds = body.items.map(({ action, subject, detail }: Record<string, unknown>) => [action, subject, detail]);
    expect(deeds).toContainEqual(["workflow.published", "count", { version: 2 }]);
    expect(deeds[0]).toEqual(["workflow.activated", "count", { version: 1 }]);
  });
});
