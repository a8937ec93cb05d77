import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { authenticate, type TokenIssuer, trustIssuer } from "@nova/service";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let [issuer, reads]: [string, number] = ["", 0];
let server: Server;
let key: CryptoKey;
let answer: () => { status: number; body: unknown };
let trusted: TokenIssuer;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  key = pair.privateKey;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "1", alg: "ES256" };
  answer = () => ({ status: 200, body: { keys: [jwk] } });
  server = createServer((_request, response) => {
    reads++;
    const { status, body } = answer();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  trusted = trust();
});

afterAll(() => server.close());

function trust(): TokenIssuer {
  return trustIssuer({ issuer, audience: "nova", roleClaim: "nova_role", clientClaim: "nova_client" });
}

const claims = { nova_role: "editor", nova_client: "acme" };

interface Written {
  claims?: Record<string, unknown>;
  audience?: string;
  issuer?: string;
  expires?: string | number;
  key?: CryptoKey | Uint8Array;
  alg?: string;
  subject?: string;
}

function token(written: Written = {}): Promise<string> {
  return new SignJWT(written.claims ?? claims)
    .setProtectedHeader({ alg: written.alg ?? "ES256", kid: "1" })
    .setIssuer(written.issuer ?? issuer)
    .setAudience(written.audience ?? "nova")
    .setSubject(written.subject ?? "mo@example.com")
    .setExpirationTime(written.expires ?? "5m")
    .sign(written.key ?? key);
}

const keys = { get: async () => undefined } as never;

describe("a token of the issuer", () => {
  it("speaks for a subject, with the role and the client of its claims", async () => {
    const principal = await authenticate({ keys, tokens: trusted }, await token());
    expect(principal).toEqual({
      id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
      ...{ role: "editor", client: "acme", name: "mo@example.com" },
    });
    const again = await trusted.principalOf(await token({ claims: { nova_role: "viewer", nova_client: "*" } }));
    expect(again).toMatchObject({ id: principal.id, role: "viewer", client: null });
  });

  it.each<[string, () => Promise<string>]>([
    ["of another issuer", () => token({ issuer: "https://evil.example.com" })],
    ["for another audience", () => token({ audience: "billing" })],
    ["that has expired", () => token({ expires: 1 })],
    ["signed by another key", async () => token({ key: (await generateKeyPair("ES256")).privateKey })],
    ["signed with a secret", () => token({ alg: "HS256", key: new Uint8Array(32) })],
    ["without a role", () => token({ claims: { nova_client: "acme" } })],
    ["with a role that nobody knows", () => token({ claims: { ...claims, nova_role: "root" } })],
    ["that names no client", () => token({ claims: { nova_role: "admin" } })],
    ["that is none", async () => "a.b.c"],
    ["whose payload was changed", async () => (await token()).replace(/\.[^.]+\./, ".e30.")],
  ])("%s opens nothing", async (_what, written) => {
    const text = await written();
    await expect(authenticate({ keys, tokens: trusted }, text)).rejects.toMatchObject({ name: "Unauthenticated" });
  });

  it("opens nothing where no issuer is trusted, in the same words as a wrong key", async () => {
    const said = async (text: string) => authenticate({ keys }, text).catch((error: Error) => error.message);
    expect(await said(await token())).toBe(await said("nova_nothing"));
  });

  it("is checked with keys that are read once", async () => {
    const before = reads;
    for (let n = 0; n < 5; n++) await trusted.principalOf(await token());
    expect(reads).toBe(before);
  });

  it.each([
    ["an error", { status: 500, body: {} }],
    ["something that is no key set", { status: 200, body: { keys: "none" } }],
  ])("says that the issuer cannot be asked where it answers %s", async (_what, given) => {
    const usual = answer;
    answer = () => given;
    const reading = trust().principalOf(await token());
    await expect(reading).rejects.toMatchObject({ name: "IssuerUnreachable" });
    answer = usual;
  });
});
