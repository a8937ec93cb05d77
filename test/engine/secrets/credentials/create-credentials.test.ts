import { createCredentials } from "@nova/engine";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyOverlay } from "../../../../packages/engine/src/secrets/overlay.ts";
import { MemoryCredentials, mirrorCipher } from "../../../support/credentials.ts";

const acme = { client: "acme" };
const email = { user: "a@acme.test", password: "s3cret-1", smtp_host: "smtp.acme.test", smtp_port: 587 };
const database = { host: "db.acme.test", port: 5432, name: "invoices", user: "nova", password: "s3cret-2" };

let store: MemoryCredentials;
let nowMs = 0;

beforeEach(() => {
  store = new MemoryCredentials();
});

function credentials(keys?: string[]) {
  const nobody = () => Promise.reject(new RangeError("nobody asks for a token"));
  return createCredentials({ store, cipher: mirrorCipher(keys), now: () => nowMs, sleep: nobody, fetch: nobody });
}

const namesOf = ({ members }: { members: { key: string }[] }) => members.map(({ key }) => key);

describe("a node's credential overlay", () => {
  it("has the flat names of each kind, values as JSON, secrets and hosts", async () => {
    await store.have(acme, "email", "email", email);
    await store.have(acme, "erp", "database", database);
    const overlay = await credentials().forNode("acme", "wf", undefined);
    expect(Object.fromEntries(overlay.members.map(({ key, json }) => [key, JSON.parse(json)]))).toEqual({
      email_user: email.user,
      email_password: "s3cret-1",
      smtp_host: "smtp.acme.test",
      smtp_port: 587,
      db_host: "db.acme.test",
      db_port: 5432,
      db_name: "invoices",
      db_user: "nova",
      db_password: "s3cret-2",
    });
    expect(overlay.secrets).toEqual(["s3cret-1", "s3cret-2"]);
    expect(overlay.hosts).toEqual(["smtp.acme.test:587", "db.acme.test:5432"]);
  });

  it.each([
    { names: undefined, prefixed: "archive" },
    { names: ["archive", "email"], prefixed: "archive" },
    { names: ["support", "archive"], prefixed: "archive" },
    { names: ["archive", "support"], prefixed: "support" },
  ])("of $names prefixes the members of $prefixed with the name of that credential", async ({ names, prefixed }) => {
    for (const name of ["archive", "email", "support"]) await store.have(acme, name, "email", email);
    const keys = namesOf(await credentials().forNode("acme", "wf", names));
    expect(keys).toContain("email_password");
    expect(keys).toContain(`${prefixed}_email_password`);
  });

  it.each([
    ["http", { url: "http://api.test:8080/v1", token: "t0ken-1" }, ["http_url", "http_token"], ["api.test:8080"]],
    [
      "http",
      { url: "https://api.test", headers: { "X-Key": "k3y-11" } },
      ["http_url", "http_headers"],
      ["api.test:443"],
    ],
    ["custom", { secret: "s3cret-3" }, ["one_secret"], []],
    [
      "oauth2",
      { token_url: "https://id.test", client_id: "x", access_token: "t0ken-2", api_url: "https://api.test" },
      ["oauth2_access_token", "oauth2_api_url"],
      ["api.test:443"],
    ],
  ] as const)("of the kind %s with %j is %j", async (kind, values, keys, hosts) => {
    await store.have(acme, "one", kind, values);
    const overlay = await credentials().forNode("acme", "wf", ["one"]);
    expect([namesOf(overlay), overlay.hosts]).toEqual([keys, hosts]);
    expect(overlay.secrets).toHaveLength(1);
  });

  it("prefers the client's credential to the workflow's of the same name", async () => {
    await store.have({ workflow: "wf" }, "api", "custom", { key: "of the workflow" });
    await store.have({ workflow: "wf" }, "other", "custom", { key: "of it too" });
    await store.have(acme, "api", "custom", { key: "of the client" });
    const { secrets } = await credentials().forNode("acme", "wf", undefined);
    expect(secrets).toEqual(["of the client", "of it too"]);
    expect((await credentials().forNode("globex", "wf", ["api"])).secrets).toEqual(["of the workflow"]);
  });

  it("has only the client's own credentials without a workflow", async () => {
    await store.have({ workflow: "wf" }, "shared", "custom", { key: "of the workflow" });
    await store.have(acme, "own", "custom", { key: "of the client" });
    expect((await credentials().forNode("acme", null, undefined)).secrets).toEqual(["of the client"]);
    await expect(credentials().forNode("acme", null, ["shared"])).rejects.toThrow(/has no credential "shared"/);
  });

  it("is empty without a read if the node declares no credentials", async () => {
    expect(await credentials().forNode("acme", "wf", [])).toBe(emptyOverlay);
    expect(store.reads).toEqual([]);
  });
});

describe("the credentials of an owner in memory", () => {
  it("are valid for a minute, even if there are none", async () => {
    const known = credentials();
    for (const at of [0, 1_000, 59_999]) {
      nowMs = at;
      expect(await known.forNode("acme", "wf", undefined)).toBe(emptyOverlay);
    }
    expect(store.reads).toEqual(["client:acme", "workflow:wf"]);
    nowMs = 60_000;
    await known.forNode("acme", "wf", undefined);
    expect(store.reads).toHaveLength(4);
  });

  it("are read again for a missing name, and after `forget`", async () => {
    const known = credentials();
    await known.forNode("acme", "wf", undefined);
    await store.have(acme, "api", "custom", { key: "s3cret-4" });
    expect((await known.forNode("acme", "wf", ["api"])).secrets).toEqual(["s3cret-4"]);
    await store.have(acme, "api", "custom", { key: "s3cret-5" });
    known.forget(acme);
    expect((await known.forNode("acme", "wf", ["api"])).secrets).toEqual(["s3cret-5"]);
  });
});

describe("an unavailable credential", () => {
  it("fails the node with the command that stores it", async () => {
    const asking = credentials().forNode("acme", "wf", ["ftp"]);
    await expect(asking).rejects.toMatchObject({
      name: "NodeFailed",
      message: expect.stringMatching(/has no credential "ftp" - store it/),
    });
  });

  it("is named if no key opens it, and the others are still masked", async () => {
    await store.have(acme, "api", "custom", { key: "s3cret-6" });
    const asking = credentials(["another key"]).forNode("acme", "wf", undefined);
    await expect(asking).rejects.toMatchObject({
      name: "NodeFailed",
      message: expect.stringMatching(/"api" of client acme: it does not open/),
    });
    expect(await credentials(["another key"]).secretsOf("acme", "wf")).toEqual([]);
    expect(await credentials().secretsOf("acme", "wf")).toEqual(["s3cret-6"]);
  });
});
