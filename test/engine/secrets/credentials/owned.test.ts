import { createCredentials, HostRefused, type OutgoingFetch } from "@nova/engine";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryCredentials, mirrorCipher } from "../../../support/credentials.ts";

const acme = { client: "acme" };
const now = Date.parse("2026-01-01T00:00:00.000Z");
const stored = {
  token_url: "https://id.test/token",
  client_id: "nova",
  client_secret: "cl1ent-secret",
  refresh_token: "refresh-1",
  access_token: "access-1",
  expires_at: "2026-01-01T00:00:50.000Z",
};

let store: MemoryCredentials;
let asked: string[];
let slept: number[];
let lateMs: number;

beforeEach(() => {
  store = new MemoryCredentials();
  asked = [];
  [slept, lateMs] = [[], 0];
});

/** Answers requests in turn. One more request than answers fails. */
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

describe("an access token", () => {
  it.each([
    ["lives for more than a minute", "2026-01-01T00:01:01.000Z", "access-1", 0],
    ["has a minute left", "2026-01-01T00:01:00.000Z", "access-2", 1],
    ["has ended", "2025-12-31T00:00:00.000Z", "access-2", 1],
  ])("that %s (%s) is %s", async (_what, expires_at, expected, requests) => {
    await store.have(acme, "api", "oauth2", { ...stored, expires_at });
    expect(await tokenOf(process(token(2)))).toBe(expected);
    expect(asked).toHaveLength(requests);
  });

  it("is obtained with the refresh token, and both new tokens are stored", async () => {
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

  it("is requested for the client itself if there is no refresh token", async () => {
    const { refresh_token: _, access_token: __, ...own } = stored;
    await store.have(acme, "api", "oauth2", { ...own, scope: "read" });
    expect(await tokenOf(process(answer(200, { access_token: "access-9" })))).toBe("access-9");
    expect(asked[0]).toContain("grant_type=client_credentials&client_id=nova&client_secret=cl1ent-secret&scope=read");
  });

  it("is obtained once for nodes that need it at the same time, and old tokens stay masked", async () => {
    await store.have(acme, "api", "oauth2", stored);
    const credentials = process(token(2));
    expect(await Promise.all([tokenOf(credentials), tokenOf(credentials)])).toEqual(["access-2", "access-2"]);
    const { secrets } = await credentials.forNode("acme", "wf", ["api"]);
    expect(secrets).toEqual(expect.arrayContaining(["access-1", "access-2", "refresh-1", "cl1ent-secret"]));
  });

  it("is taken from a faster process, which used up the refresh token", async () => {
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
  it("gets the last token of any age, without a request or a write", async () => {
    await store.have(acme, "api", "oauth2", { ...stored, expires_at: "2025-12-31T00:00:00.000Z" });
    const { members } = await process().forNode("acme", "wf", ["api"], { asStored: true });
    expect(members).toContainEqual({ key: "oauth2_access_token", json: '"access-1"' });
    expect(asked).toEqual([]);
    expect(await store.get({ owner: acme, name: "api" })).toMatchObject({ revision: 1 });
  });
});

describe("a token endpoint", () => {
  it.each([
    ["refuses", answer(400, { error: "invalid_grant" }), "NodeFailed", /"api" of client acme: .* answered 400/],
    [
      "is inside a private network",
      () => Promise.reject(new HostRefused("id.test leads to no public address")),
      "NodeFailed",
      /"api" of client acme: its token_url is refused: id\.test leads to no public address/,
    ],
    ["answers something else", answer(200, { hello: 1 }), "NodeFailed", /answered 200 and no access token/],
  ])("that %s is reported immediately, without a secret", async (_what, reply, name, message) => {
    await store.have(acme, "api", "oauth2", stored);
    const failure = await tokenOf(process(reply)).catch((error: Error) => error);
    expect(failure).toMatchObject({ name, message: expect.stringMatching(message) });
    expect(String(failure)).not.toMatch(/refresh-1|cl1ent-secret/);
    expect(slept).toEqual([]);
  });

  it.each([
    ["is down", answer(503, {}), "answered 503"],
    ["is busy", answer(429, {}), "answered 429"],
    ["is not there", () => Promise.reject(new TypeError("fetch failed")), "does not answer"],
  ])("that %s is called five times, and then fails the node with its name and host", async (_what, reply, why) => {
    await store.have(acme, "api", "oauth2", stored);
    const failure = await tokenOf(process(reply, reply, reply, reply, reply)).catch((error: Error) => error);
    const told = `credential "api" of client acme: its token endpoint id.test ${why}, in 5 tries - correct its token_url, or start the run again when it is there`;
    expect(failure).toMatchObject({ name: "NodeFailed", message: told });
    expect(asked).toHaveLength(5);
    expect(slept).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  it("that did not answer is not called by other nodes for a minute", async () => {
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

  it("that refused is called again by the next node", async () => {
    await store.have(acme, "api", "oauth2", stored);
    const credentials = process(answer(400, {}), token(2));
    await expect(tokenOf(credentials)).rejects.toThrow(/answered 400/);
    expect(await tokenOf(credentials)).toBe("access-2");
  });

  it("that recovers between the tries gives a token as usual", async () => {
    await store.have(acme, "api", "oauth2", stored);
    expect(await tokenOf(process(answer(503, {}), answer(503, {}), token(2)))).toBe("access-2");
    expect(slept).toEqual([1_000, 2_000]);
  });
});
