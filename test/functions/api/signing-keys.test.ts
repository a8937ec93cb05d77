import { beforeAll, describe, expect, it } from "vitest";
import { useServer } from "../../cli/support/on-server.ts";
import { inARow } from "../../support/cloud.ts";
import { expectRefusal, useApi } from "./support/api.ts";

const api = useApi();
const { nova } = useServer(api);

beforeAll(async () => {
  await api.call("POST /workflows", { body: inARow("adding", { add: "context['sum'] = context['n'] + 1" }) });
  await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
});

async function run(): Promise<string> {
  const { body } = await api.call("POST /workflows/adding/execute?wait=20", { body: { context: { n: 1 } } });
  return body.execution_id;
}

async function publishedKids(): Promise<string[]> {
  const { body } = await api.call("GET /.well-known/nova-keys.json", { key: null });
  return body.keys.map(({ kid }: { kid: string }) => kid);
}

async function signerOf(execution: string): Promise<string | undefined> {
  const [close] = await api.ports.chain.tip(execution, "");
  return close?.entry?.signature?.split(".")[0];
}

describe("the signing keys", () => {
  it("are published without an API key, as a JWK set that caches may keep for five minutes", async () => {
    const { status, headers, body } = await api.call("GET /.well-known/nova-keys.json", { key: null });
    expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=300"]);
    expect(Object.keys(body)).toEqual(["keys"]);
    expect(JSON.stringify(body)).not.toContain('"d"');
  });

  it("include after a rotation a new key that signs later runs, and the old key still verifies earlier runs", async () => {
    const [before] = await publishedKids();
    const old = await run();
    const { status, body: added } = await api.call("POST /signing-keys/rotate");
    expect([status, added.exp]).toEqual([201, undefined]);
    const fresh = await run();
    expect(await publishedKids()).toEqual([before, added.kid]);
    expect([await signerOf(old), await signerOf(fresh)]).toEqual([before, added.kid]);
    for (const id of [old, fresh])
      expect((await api.call(`GET /executions/${id}/verify`)).body).toMatchObject({ state: "anchored" });
    const { body: records } = await api.call("GET /audit?limit=1");
    expect(records.items[0]).toMatchObject({ action: "signing_key.rotated", subject: added.kid });
  });

  it("cannot be rotated by an administrator of one client", async () => {
    const key = await api.key("admin", "acme");
    await expectRefusal(api.call("POST /signing-keys/rotate", { key }), 403, /all clients/);
  });

  it("cannot be rotated by a request if they are in KMS", async () => {
    const { rotate, ...keyPair } = api.ports.keyPair;
    api.ports.keyPair = keyPair;
    await expectRefusal(api.call("POST /signing-keys/rotate"), 409, /raise NOVA_PROOF_KEYS by one and deploy/);
    api.ports.keyPair = { ...keyPair, ...(rotate && { rotate }) };
  });

  it("are listed and rotated by `nova signers`", async () => {
    const kids = await publishedKids();
    expect(await nova("signers", "list")).toMatchObject({
      code: 0,
      out: expect.stringContaining(kids[0] ?? ""),
    });
    const rotated = await nova("signers", "rotate", "--json");
    expect(await publishedKids()).toEqual([...kids, JSON.parse(rotated.out).kid]);
  });
});
