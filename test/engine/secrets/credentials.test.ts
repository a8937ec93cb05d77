import { type CredentialKindName, createCredentials, HostRefused, type OutgoingFetch } from "@nova/engine";
import { beforeEach, describe, expect, it } from "vitest";
import { checkValues } from "../../../packages/engine/src/secrets/credential-kinds.ts";
import { emptyOverlay } from "../../../packages/engine/src/secrets/overlay.ts";
import { MemoryCredentials, mirrorCipher } from "../../support/credentials.ts";

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

describe("the credentials that a node can use", () => {
  it("have a key for each field, and a list of their secrets and hosts", async () => {
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
  ])(
    "have keys that begin with the name of the credential $prefixed if the node uses $names",
    async ({ names, prefixed }) => {
      for (const name of ["archive", "email", "support"]) await store.have(acme, name, "email", email);
      const keys = namesOf(await credentials().forNode("acme", "wf", names));
      expect(keys).toContain("email_password");
      expect(keys).toContain(`${prefixed}_email_password`);
    },
  );

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
  ] as const)("of the kind %s with %j have the keys %j", async (kind, values, keys, hosts) => {
    await store.have(acme, "one", kind, values);
    const overlay = await credentials().forNode("acme", "wf", ["one"]);
    expect([namesOf(overlay), overlay.hosts]).toEqual([keys, hosts]);
    expect(overlay.secrets).toHaveLength(1);
  });

  it("include the client's credential, and not the workflow's credential of the same name", async () => {
    await store.have({ workflow: "wf" }, "api", "custom", { key: "of the workflow" });
    await store.have({ workflow: "wf" }, "other", "custom", { key: "of it too" });
    await store.have(acme, "api", "custom", { key: "of the client" });
    const { secrets } = await credentials().forNode("acme", "wf", undefined);
    expect(secrets).toEqual(["of the client", "of it too"]);
    expect((await credentials().forNode("globex", "wf", ["api"])).secrets).toEqual(["of the workflow"]);
  });

  it("are only the credentials of the client if there is no workflow", async () => {
    await store.have({ workflow: "wf" }, "shared", "custom", { key: "of the workflow" });
    await store.have(acme, "own", "custom", { key: "of the client" });
    expect((await credentials().forNode("acme", null, undefined)).secrets).toEqual(["of the client"]);
    await expect(credentials().forNode("acme", null, ["shared"])).rejects.toThrow(/has no credential "shared"/);
  });

  it("are empty, and are not read from the database, if the node declares no credentials", async () => {
    expect(await credentials().forNode("acme", "wf", [])).toBe(emptyOverlay);
    expect(store.reads).toEqual([]);
  });
});

describe("the cache of a client's credentials", () => {
  it("is valid for a minute, even if the client has no credentials", async () => {
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

  it("is filled again if a node needs a credential that it lacks, and after a call of `forget`", async () => {
    const known = credentials();
    await known.forNode("acme", "wf", undefined);
    await store.have(acme, "api", "custom", { key: "s3cret-4" });
    expect((await known.forNode("acme", "wf", ["api"])).secrets).toEqual(["s3cret-4"]);
    await store.have(acme, "api", "custom", { key: "s3cret-5" });
    known.forget(acme);
    expect((await known.forNode("acme", "wf", ["api"])).secrets).toEqual(["s3cret-5"]);
  });
});

describe("a credential that is missing or cannot be decrypted", () => {
  it("fails the node with a message that says how to store it", async () => {
    const asking = credentials().forNode("acme", "wf", ["ftp"]);
    await expect(asking).rejects.toMatchObject({
      name: "NodeFailed",
      message: expect.stringMatching(/has no credential "ftp" - store it/),
    });
  });

  it("fails the node with a message that names the credential if no key decrypts it", async () => {
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

const mailbox = { user: "billing@acme.test", password: "s3cret-4711", smtp_host: "smtp.acme.test" };
const oauth = { token_url: "https://id.test/token", client_id: "nova", client_secret: "s3cret-4711" };
const api = { url: "https://api.test", token: "s3cret-4711" };

describe("checkValues", () => {
  it.each<[string, CredentialKindName, unknown, string, string]>([
    [
      "a field that the kind does not have",
      "email",
      { ...mailbox, hots: "h" },
      "",
      'this kind has no "hots" - correct or remove it',
    ],
    [
      "two fields that the kind does not have",
      "email",
      { ...mailbox, a: 1, b: 2 },
      "",
      'this kind has no "a" or "b" - correct or remove it',
    ],
    ["a name that is not valid", "custom", { "A b": "4711-4711" }, "A b", "must be a name such as api_key"],
    ["an empty name", "http", { ...api, headers: { "": "4711-4711" } }, "headers.", "must not be empty"],
    ["a list of headers", "http", { ...api, headers: [] }, "headers", "must be an object"],
    [
      "a text instead of a time",
      "oauth2",
      { ...oauth, expires_at: "soon" },
      "expires_at",
      "must be a time with its zone, such as",
    ],
    ["a text instead of an object", "email", "s3cret-4711", "", "must be an object"],
    [
      "a text instead of a port number",
      "email",
      { ...mailbox, smtp_port: "5544" },
      "smtp_port",
      "must be a number, not a text",
    ],
    ["a number that is not a port", "email", { ...mailbox, smtp_port: 0 }, "smtp_port", "must be a port, 1 to 65535"],
    ["a value of another type", "email", { ...mailbox, smtp_host: 7 }, "smtp_host", "must be a text"],
  ])("refuses, with an explanation, a credential with %s", (_what, kind, values, path, message) => {
    const [misfit] = checkValues(kind, values).error?.issues ?? [];
    expect(misfit?.path.join(".")).toBe(path);
    expect(misfit?.message).toContain(message);
    expect(misfit?.message).not.toMatch(/Invalid|Unrecognized|s3cret/);
  });
});

const now = Date.parse("2026-01-01T00:00:00.000Z");
const stored = {
  token_url: "https://id.test/token",
  client_id: "nova",
  client_secret: "cl1ent-secret",
  refresh_token: "refresh-1",
  access_token: "access-1",
  expires_at: "2026-01-01T00:00:50.000Z",
};

let asked: string[];
let slept: number[];
let lateMs: number;

beforeEach(() => {
  asked = [];
  slept = [];
  lateMs = 0;
});

/** Returns a process whose token requests get these responses in order. A further request fails. */
function process(...answers: (() => Response | Promise<Response>)[]) {
  const fetch: OutgoingFetch = async (url, { body } = {}) => {
    asked.push(`${url} ${body}`);
    const answer = answers.shift();
    if (!answer) throw new RangeError("a request too many");
    return answer();
  };
  const sleep = async (ms: number) => void slept.push(ms);
  return createCredentials({ store, cipher: mirrorCipher(), now: () => now + lateMs, sleep, fetch });
}

const answer = (status: number, body: object) => () => new Response(JSON.stringify(body), { status });
const token = (n: number) =>
  answer(200, { access_token: `access-${n}`, expires_in: 600, refresh_token: `refresh-${n}` });

async function tokenOf(credentials: ReturnType<typeof process>) {
  const { members } = await credentials.forNode("acme", "wf", ["api"]);
  return JSON.parse(members.find(({ key }) => key === "oauth2_access_token")?.json ?? "null");
}

describe("an OAuth access token", () => {
  it.each([
    ["lives for more than a minute", "2026-01-01T00:01:01.000Z", "access-1", 0],
    ["has a minute left", "2026-01-01T00:01:00.000Z", "access-2", 1],
    ["has expired", "2025-12-31T00:00:00.000Z", "access-2", 1],
  ])(
    "that %s (until %s) is renewed unless it lives for more than a minute: the node gets %s",
    async (_what, expires_at, expected, requests) => {
      await store.have(acme, "api", "oauth2", { ...stored, expires_at });
      expect(await tokenOf(process(token(2)))).toBe(expected);
      expect(asked).toHaveLength(requests);
    },
  );

  it("is requested with the refresh token, and the new access and refresh tokens are stored", async () => {
    await store.have(acme, "api", "oauth2", stored);
    await tokenOf(process(token(2)));
    const form = "grant_type=refresh_token&refresh_token=refresh-1&client_id=nova&client_secret=cl1ent-secret";
    expect(asked).toEqual([`https://id.test/token ${form}`]);
    expect(await tokenOf(process())).toBe("access-2");
    expect(await store.get({ owner: acme, name: "api" })).toMatchObject({
      revision: 2,
      changedAt: "2026-01-01T00:00:00.000Z",
      sealed: expect.stringContaining("refresh-2"),
    });
  });

  it("is requested with the client id and the client secret alone if there is no refresh token", async () => {
    const { refresh_token: _, access_token: __, ...own } = stored;
    await store.have(acme, "api", "oauth2", { ...own, scope: "read" });
    expect(await tokenOf(process(answer(200, { access_token: "access-9" })))).toBe("access-9");
    expect(asked[0]).toContain("grant_type=client_credentials&client_id=nova&client_secret=cl1ent-secret&scope=read");
  });

  it("is requested once for nodes that need the token at the same time, and old tokens stay masked", async () => {
    await store.have(acme, "api", "oauth2", stored);
    const credentials = process(token(2));
    expect(await Promise.all([tokenOf(credentials), tokenOf(credentials)])).toEqual(["access-2", "access-2"]);
    const { secrets } = await credentials.forNode("acme", "wf", ["api"]);
    expect(secrets).toEqual(expect.arrayContaining(["access-1", "access-2", "refresh-1", "cl1ent-secret"]));
  });

  it("is read from the database if a faster process has already used the refresh token", async () => {
    await store.have(acme, "api", "oauth2", stored);
    const faster = process(token(2));
    const slower = process(async () => {
      await tokenOf(faster);
      return answer(400, { error: "invalid_grant" })();
    });
    expect(await tokenOf(slower)).toBe("access-2");
    expect(asked).toHaveLength(2);
  });
});

describe("a caller that asks for stored credentials", () => {
  it("gets the stored token even if it has expired, without a request or a write", async () => {
    await store.have(acme, "api", "oauth2", { ...stored, expires_at: "2025-12-31T00:00:00.000Z" });
    const { members } = await process().forNode("acme", "wf", ["api"], { asStored: true });
    expect(members).toContainEqual({ key: "oauth2_access_token", json: '"access-1"' });
    expect(asked).toEqual([]);
    expect(await store.get({ owner: acme, name: "api" })).toMatchObject({ revision: 1 });
  });
});

describe("an OAuth token endpoint", () => {
  it.each([
    ["refuses", answer(400, { error: "invalid_grant" }), "NodeFailed", /"api" of client acme: .* answered 400/],
    [
      "is inside a private network",
      () => Promise.reject(new HostRefused("id.test leads to no public address")),
      "NodeFailed",
      /"api" of client acme: its token_url is refused: id\.test leads to no public address/,
    ],
    [
      "returns something other than a token",
      answer(200, { hello: 1 }),
      "NodeFailed",
      /answered 200 and no access token/,
    ],
  ])("causes an error at once that shows no secret if it %s", async (_what, reply, name, message) => {
    await store.have(acme, "api", "oauth2", stored);
    const failure = await tokenOf(process(reply)).catch((error: Error) => error);
    expect(failure).toMatchObject({ name, message: expect.stringMatching(message) });
    expect(String(failure)).not.toMatch(/refresh-1|cl1ent-secret/);
    expect(slept).toEqual([]);
  });

  it.each([
    ["is down", answer(503, {}), "answered 503"],
    ["is busy", answer(429, {}), "answered 429"],
    ["does not exist", () => Promise.reject(new TypeError("fetch failed")), "does not answer"],
  ])(
    "is called five times if it %s, and then the node fails with a message that names the endpoint",
    async (_what, reply, why) => {
      await store.have(acme, "api", "oauth2", stored);
      const failure = await tokenOf(process(reply, reply, reply, reply, reply)).catch((error: Error) => error);
      const told = `credential "api" of client acme: its token endpoint id.test ${why}, in 5 tries - correct its token_url, or start the run again when it is there`;
      expect(failure).toMatchObject({ name: "NodeFailed", message: told });
      expect(asked).toHaveLength(5);
      expect(slept).toEqual([1_000, 2_000, 4_000, 8_000]);
    },
  );

  it("is not called by other nodes for a minute after it did not answer", async () => {
    await store.have(acme, "api", "oauth2", stored);
    const down = answer(503, {});
    const credentials = process(down, down, down, down, down, token(2));
    await expect(tokenOf(credentials)).rejects.toThrow(/in 5 tries/);
    lateMs = 59_000;
    await expect(tokenOf(credentials)).rejects.toThrow(/in 5 tries/);
    expect(asked).toHaveLength(5);
    lateMs = 60_000;
    expect(await tokenOf(credentials)).toBe("access-2");
  });

  it("is called again by the next node after it refused a request", async () => {
    await store.have(acme, "api", "oauth2", stored);
    const credentials = process(answer(400, {}), token(2));
    await expect(tokenOf(credentials)).rejects.toThrow(/answered 400/);
    expect(await tokenOf(credentials)).toBe("access-2");
  });

  it("causes no failure of the node if it fails at first and then returns a token", async () => {
    await store.have(acme, "api", "oauth2", stored);
    expect(await tokenOf(process(answer(503, {}), answer(503, {}), token(2)))).toBe("access-2");
    expect(slept).toEqual([1_000, 2_000]);
  });
});
