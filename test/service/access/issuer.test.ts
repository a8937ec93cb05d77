import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { authenticate, type TokenIssuer } from "@nova/service";
import { trustIssuer } from "@nova/service/adapters";
import { createOutgoing } from "@nova/service/outgoing";
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let [issuer, reads]: [string, number] = ["", 0];
let server: Server;
let key: CryptoKey;
let publicText: string;
let answer: () => { status: number; body: unknown };
let trusted: TokenIssuer;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  key = pair.privateKey;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "1", alg: "ES256" };
  publicText = JSON.stringify(jwk);
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

const { fetch } = createOutgoing({ allowsPrivate: true });

function trust(): TokenIssuer {
  return trustIssuer({ fetch }, { issuer, audience: "nova", roleClaim: "nova_role", clientClaim: "nova_client" });
}

const claims = { nova_role: "editor", nova_client: "acme" };

/** The fields of a token that a test chooses. The token lacks each field that is null. */
interface Written {
  claims?: Record<string, unknown>;
  audience?: string | null;
  issuer?: string | null;
  expires?: string | number | null;
  key?: CryptoKey | Uint8Array;
  alg?: string;
  subject?: string | null;
}

function token(written: Written = {}): Promise<string> {
  const { audience = "nova", issuer: by = issuer, expires = "5m", subject = "mo@example.com" } = written;
  const jwt = new SignJWT(written.claims ?? claims).setProtectedHeader({ alg: written.alg ?? "ES256", kid: "1" });
  if (by !== null) jwt.setIssuer(by);
  if (audience !== null) jwt.setAudience(audience);
  if (subject !== null) jwt.setSubject(subject);
  if (expires !== null) jwt.setExpirationTime(expires);
  return jwt.sign(written.key ?? key);
}

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;

const unsigned = (text: string) =>
  `${Buffer.from('{"alg":"none","kid":"1"}').toString("base64url")}.${text.split(".")[1]}.AA`;

const keys = { get: async () => undefined } as never;

describe("a sign-in token", () => {
  it("identifies its subject, with the role and the client that its claims name", async () => {
    const principal = await authenticate({ keys, tokens: trusted }, await token());
    expect(principal).toEqual({
      id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
      role: "editor",
      client: "acme",
      name: "mo@example.com",
      person: {
        name: "subject mo@example.com",
        ids: [principal.id],
        roles: ["editor"],
        groups: [],
        via: { kind: "jwt", issuer },
      },
    });
    const again = await trusted.principalOf(await token({ claims: { nova_role: "viewer", nova_client: "*" } }));
    expect(again).toMatchObject({ id: principal.id, role: "viewer", client: null });
  });

  it("proves the verified mail address of its subject, in lower case, and the groups and roles that its claims name", async () => {
    const more = { email: "CFO@Acme.com", email_verified: true, groups: ["audit", "staff"], roles: "finance" };
    const principal = await trusted.principalOf(await token({ claims: { ...claims, ...more } }));
    expect(principal?.person).toEqual({
      name: "cfo@acme.com",
      ids: ["cfo@acme.com", principal?.id],
      roles: ["editor", "finance"],
      groups: ["audit", "staff"],
      via: { kind: "jwt", issuer },
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ["that is not verified", { email: "cfo@acme.com" }],
    ["whose verification is a text", { email: "cfo@acme.com", email_verified: "true" }],
    ["that is no address", { email: "cfo", email_verified: true }],
    ["that is a list", { email: ["cfo@acme.com"], email_verified: true }],
    ["with a Kelvin sign, whose lower case is a k", { email: "\u212Aim@acme.com", email_verified: true }],
    ["with a Cyrillic letter that looks like a Latin letter", { email: "cf\u043E@acme.com", email_verified: true }],
    ["with an invisible character", { email: "cfo\u200B@acme.com", email_verified: true }],
    ["with a line feed", { email: "cfo@acme.com\n", email_verified: true }],
  ])("proves no mail address %s", async (_what, more) => {
    const principal = await trusted.principalOf(await token({ claims: { ...claims, ...more } }));
    expect(principal?.person).toMatchObject({ name: "subject mo@example.com", ids: [principal?.id] });
  });

  it.each<[string, unknown, string[]]>([
    [
      "1,000 groups",
      Array.from({ length: 1_000 }, (_, n) => `g${n}`),
      Array.from({ length: 1_000 }, (_, n) => `g${n}`),
    ],
    ["10,000 groups", Array.from({ length: 10_000 }, (_, n) => `g${n}`), []],
    ["a group that is no text", ["a", 7, { b: 1 }, null, ""], ["a"]],
    ["a group of 256 characters", ["a", "b".repeat(256)], ["a"]],
    ["an object of groups", { a: true }, []],
    ["one group as a text", "audit", ["audit"]],
  ])("names only groups that NOVA can compare: %s", async (_what, groups, read) => {
    const principal = await trusted.principalOf(await token({ claims: { ...claims, groups } }));
    expect(principal?.person?.groups).toEqual(read);
  });

  const seconds = (from: number) => Math.floor(Date.now() / 1000) + from;

  it.each([
    ["that expired four minutes ago", { exp: seconds(-240) }],
    ["that was issued in four minutes", { iat: seconds(240) }],
    ["that is valid in four minutes", { nbf: seconds(240) }],
  ])("%s is accepted, because clocks differ", async (_what, times) => {
    const expires = "exp" in times ? null : "10m";
    expect(await trusted.principalOf(await token({ claims: { ...claims, ...times }, expires }))).toBeTruthy();
  });

  it.each<[string, () => Promise<string>]>([
    ["that expired six minutes ago", () => token({ claims: { ...claims, exp: seconds(-360) }, expires: null })],
    ["that was issued in six minutes", () => token({ claims: { ...claims, iat: seconds(360) } })],
    ["of another issuer", () => token({ issuer: "https://evil.example.com" })],
    ["for another audience", () => token({ audience: "billing" })],
    ["that has expired", () => token({ expires: 1 })],
    ["signed by another key", async () => token({ key: (await generateKeyPair("ES256")).privateKey })],
    ["signed with a secret", () => token({ alg: "HS256", key: new Uint8Array(32) })],
    ["without a role", () => token({ claims: { nova_client: "acme" } })],
    ["with an unknown role", () => token({ claims: { ...claims, nova_role: "root" } })],
    ["without a client", () => token({ claims: { nova_role: "admin" } })],
    ["whose client is not a slug", () => token({ claims: { ...claims, nova_client: "Acme/../x" } })],
    ["whose client is empty", () => token({ claims: { ...claims, nova_client: "" } })],
    ["whose client is a list", () => token({ claims: { ...claims, nova_client: ["acme"] } })],
    ["whose role is a list", () => token({ claims: { ...claims, nova_role: ["admin"] } })],
    ["with an empty subject", () => token({ subject: "" })],
    ["with a subject of spaces", () => token({ subject: "  " })],
    ["with a subject that is not text", () => token({ claims: { ...claims, sub: 7 }, subject: null })],
    ["with a control character in its subject", () => token({ subject: "mo\u001b[2J" })],
    ["with a subject that reverses the text direction", () => token({ subject: "mo\u202egro" })],
    ["with a subject of 256 characters", () => token({ subject: "a".repeat(256) })],
    ["without a subject", () => token({ subject: null })],
    ["that never expires", () => token({ expires: null })],
    ["whose expiry is text", () => token({ claims: { ...claims, exp: "9999999999" }, expires: null })],
    ["that is not valid yet", () => token({ claims: { ...claims, nbf: inAnHour() } })],
    ["that was issued in the future", () => token({ claims: { ...claims, iat: inAnHour() } })],
    ["whose issue time is not a number", () => token({ claims: { ...claims, iat: "now" } })],
    ["without an audience", () => token({ audience: null })],
    ["for several other audiences", () => token({ claims: { ...claims, aud: ["a", "b"] }, audience: null })],
    ["without an issuer", () => token({ issuer: null })],
    ["with no signature", async () => unsigned(await token())],
    ["signed with the public key as a secret", async () => token({ alg: "HS256", key: Buffer.from(publicText) })],
    ["that is not a JWT", async () => "a.b.c"],
    ["whose payload was changed", async () => (await token()).replace(/\.[^.]+\./, ".e30.")],
  ])("%s is refused", async (_what, written) => {
    const text = await written();
    const refusal = {
      name: "Unauthenticated",
      message: expect.stringContaining("- sign in again, or send an API key"),
    };
    await expect(authenticate({ keys, tokens: trusted }, text)).rejects.toMatchObject(refusal);
  });

  it("is refused with the same message as a wrong API key if no issuer is configured", async () => {
    const said = async (text: string) => authenticate({ keys }, text).catch((error: Error) => error.message);
    expect(await said(await token())).toBe(await said("nova_nothing"));
  });

  it("is refused if the URL with the keys of its issuer has a private address", async () => {
    const before = reads;
    const closed = trustIssuer(createOutgoing({ allowsPrivate: false }), {
      issuer,
      audience: "nova",
      roleClaim: "nova_role",
      clientClaim: "nova_client",
    });
    await expect(closed.principalOf(await token())).rejects.toMatchObject({ name: "IssuerUnreachable" });
    expect(reads).toBe(before);
  });

  it("gives access to the client that its claim `sub` names if `sub` is configured as the claim of the client", async () => {
    const bySubject = trustIssuer({ fetch }, { issuer, audience: "nova", roleClaim: "nova_role", clientClaim: "sub" });
    const text = await token({ subject: "acme" });
    expect(await bySubject.principalOf(text)).toMatchObject({ client: "acme", name: "acme" });
  });

  it("is checked with keys of the issuer that NOVA fetches once for many tokens", async () => {
    const before = reads;
    for (let n = 0; n < 5; n++) await trusted.principalOf(await token());
    expect(reads).toBe(before);
  });

  it.each([
    ["an error", { status: 500, body: {} }],
    ["an invalid key set", { status: 200, body: { keys: "none" } }],
    ["a key set that is too large", { status: 200, body: { keys: [], more: "x".repeat(2_000_000) } }],
    ["a redirect", { status: 302, body: {} }],
  ])("cannot be checked if the issuer's server answers with %s", async (_what, given) => {
    const usual = answer;
    answer = () => given;
    const reading = trust().principalOf(await token());
    await expect(reading).rejects.toMatchObject({ name: "IssuerUnreachable" });
    answer = usual;
  });
});
