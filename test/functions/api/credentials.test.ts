import { describe, expect, it } from "vitest";
import { inARow } from "../../support/cloud.ts";
import { useApi } from "./support/api.ts";

const api = useApi();
const email = { user: "billing@acme.test", password: "s3cret-4711", smtp_host: "smtp.acme.test" };

describe("a credential of a client", () => {
  it("is stored, listed without its values, replaced and removed", async () => {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    const stored = await api.call("PUT /clients/acme/credentials/email", { body: { kind: "email", values: email } });
    expect(stored.body).toEqual({ name: "email", kind: "email", changed_at: expect.any(String) });
    await api.call("PUT /clients/acme/credentials/api", { body: { kind: "custom", values: { key: "4711-4711" } } });
    const { body } = await api.call("GET /clients/acme/credentials?limit=1");
    expect(body).toMatchObject({ items: [{ name: "api", kind: "custom" }], next_cursor: expect.any(String) });
    const next = await api.call(`GET /clients/acme/credentials?limit=1&cursor=${body.next_cursor}`);
    expect(next.body).toEqual({ items: [stored.body], next_cursor: null });
    expect((await api.call("DELETE /clients/acme/credentials/api")).status).toBe(204);
    expect((await api.call("DELETE /clients/acme/credentials/api")).status).toBe(404);
    expect((await api.call("GET /clients/acme/credentials/api")).status).toBe(404);
  });

  it.each([
    ["a missing field", "email", { user: "x", smtp_host: "h" }, /password/],
    ["an unknown field", "database", { ...email }, /host/],
    ["a misspelled field", "email", { ...email, hots: "h" }, /: this kind has no "hots" - correct or remove it$/],
    ["a number for a text", "email", { ...email, smtp_host: 7 }, /: smtp_host must be a text$/],
    ["a password that is too short to be masked", "email", { ...email, password: "abc" }, /at least 6 characters/],
    ["no server at all", "email", { user: "x", password: "s3cret-4711" }, /smtp_host, imap_host/],
    [
      "an address that contains a password",
      "http",
      { url: "https://u:p@x.test", token: "s3cret-4711" },
      /must not contain/,
    ],
  ])("with %s is refused, and the answer does not contain the values", async (_what, kind, values, reason) => {
    const { status, body, text } = await api.call("PUT /clients/acme/credentials/bad", { body: { kind, values } });
    expect([status, body.detail]).toEqual([422, expect.stringMatching(reason)]);
    expect(text).not.toContain("s3cret-4711");
    expect((await api.call("GET /clients/acme/credentials/bad")).status).toBe(404);
  });

  it.each(["Email", "e-mail", "9"])("cannot be called %s", async (name) => {
    const { status } = await api.call(`PUT /clients/acme/credentials/${name}`, {
      body: { kind: "email", values: email },
    });
    expect(status).toBe(404);
  });

  it("appears in the audit log with its owner and name, but without its values", async () => {
    const { body, text } = await api.call("GET /audit");
    expect(body.items.map(({ action, subject }: Record<string, string>) => `${action} ${subject}`)).toEqual(
      expect.arrayContaining(["credential.set acme/email", "credential.removed acme/api"]),
    );
    expect(text).not.toContain("s3cret");
  });
});

describe("a credential of a workflow", () => {
  it("is available to the runs of the workflow for every client immediately after a caller stores it", async () => {
    const code = 'context["length"] = len(context.get("db_password", ""))';
    await api.call("POST /workflows", { body: inARow("measured", { measure: code }) });
    const run = async () => (await api.call("POST /workflows/measured/execute?wait=20", { body: {} })).body.context;
    expect(await run()).toEqual({ length: 0 });
    const values = { host: "db.acme.test", name: "invoices", user: "nova", password: "s3cret-4711" };
    await api.call("PUT /workflows/measured/credentials/database", { body: { kind: "database", values } });
    expect(await run()).toEqual({ length: 11 });
    expect((await api.call("DELETE /workflows/measured/credentials/database")).status).toBe(204);
    expect(await run()).toEqual({ length: 0 });
  });

  it("is deleted with its workflow, and a new workflow of the same name does not get it", async () => {
    const definition = inARow("passing", { work: "x = 1" });
    await api.call("POST /workflows", { body: definition });
    await api.call("PUT /workflows/passing/credentials/api", {
      body: { kind: "custom", values: { key: "4711-4711" } },
    });
    expect((await api.call("DELETE /workflows/passing")).status).toBe(204);
    await api.call("POST /workflows", { body: definition });
    expect((await api.call("GET /workflows/passing/credentials")).body.items).toEqual([]);
  });

  it("is refused if the workflow does not exist", async () => {
    expect((await api.call("GET /workflows/nothing/credentials")).status).toBe(404);
  });
});

describe("a rotation of credential keys", () => {
  it("encrypts every credential with a new key, and nodes get the same values as before", async () => {
    await api.call("PUT /clients/acme/credentials/api", { body: { kind: "custom", values: { key: "4711-4711" } } });
    const before = await api.ports.credentialStore.list({ client: "acme" });
    const { body } = await api.call("POST /credentials/rotate");
    expect(body).toEqual({ sealed: before.length, locked: [] });
    const after = await api.ports.credentialStore.list({ client: "acme" });
    expect(after.map(({ key }) => key)).toEqual(after.map(() => after[0]?.key));
    expect(after[0]?.key).not.toBe(before[0]?.key);
    expect(after.map(({ changedAt }) => changedAt)).toEqual(before.map(({ changedAt }) => changedAt));
    const { members } = await api.ports.credentials.forNode("acme", "measured", ["api"]);
    expect(members).toEqual([{ key: "api_key", json: '"4711-4711"' }]);
  });
});
