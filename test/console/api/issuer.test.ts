import { describe, expect, it } from "vitest";
import {
  buildAuthorizationUrl,
  buildSignOutUrl,
  computeChallenge,
  isRenewalDue,
  isSafeAddress,
  parseConfig,
  parseTokens,
  readEndpoints,
  readIssuerAnswer,
} from "../../../packages/console/src/api/issuer.ts";

const issuer = "https://login.example.com/tenant";

it.each([
  ["https://login.example.com", true],
  ["http://127.0.0.1:4000/x", true],
  ["http://localhost", true],
  ["http://login.example.com", false],
  ["http://127.0.0.1.example.com", false],
  ["https://user:pass@login.example.com", false],
  ["javascript:alert(1)", false],
  ["//login.example.com", false],
  [7, false],
])("the console accepts an address of an issuer only with HTTPS or on this machine (%j: %s)", (address, is) => {
  expect(isSafeAddress(address)).toBe(is);
});

describe("the file config.json of the console", () => {
  it("names the issuer, the client id and the audience", () => {
    expect(parseConfig(JSON.stringify({ issuer, client_id: "console", audience: "nova" }))).toEqual({
      issuer,
      clientId: "console",
      audience: "nova",
    });
    expect(parseConfig(JSON.stringify({ issuer, client_id: "console" }))).toMatchObject({ audience: undefined });
  });

  it.each([
    "{}",
    "<!doctype html>the page",
    "[]",
    "null",
    JSON.stringify({ issuer }),
    JSON.stringify({ issuer, client_id: "" }),
    JSON.stringify({ issuer: "http://login.example.com", client_id: "console" }),
  ])("allows sign-in only with API keys if its content is %s", (text) => {
    expect(parseConfig(text)).toBeUndefined();
  });
});

describe("the discovery document of an issuer", () => {
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    scopes_supported: ["openid", "offline_access"],
  };

  it("names the endpoints for sign-in and tokens", () => {
    expect(readEndpoints(document, { issuer })).toEqual({
      authorization: `${issuer}/authorize`,
      token: `${issuer}/token`,
      isOffline: true,
      namesItself: false,
      endOfSession: undefined,
    });
  });

  it("is accepted only if its token endpoint is at the configured origin", () => {
    const elsewhere = { ...document, token_endpoint: "https://tokens.example.com/" };
    const tokenOrigin = "https://tokens.example.com";
    expect(readEndpoints(elsewhere, { issuer, tokenOrigin }).token).toBe("https://tokens.example.com/");
    expect(() => readEndpoints(elsewhere, { issuer, tokenOrigin: `${tokenOrigin}:444` })).toThrow(/another host/);
  });

  it("names the URL for sign-out, which the console ignores if the URL is unsafe", () => {
    const endOf = (address: unknown) =>
      readEndpoints({ ...document, end_session_endpoint: address }, { issuer }).endOfSession;
    expect(endOf(`${issuer}/logout`)).toBe(`${issuer}/logout`);
    expect(endOf("javascript:alert(1)")).toBeUndefined();
  });

  it.each([
    ["belongs to another issuer", { issuer: "https://evil.example.com" }, /another issuer/],
    ["names no token endpoint", { token_endpoint: undefined }, /publishes no addresses/],
    ["names an address that is a script", { authorization_endpoint: "javascript:alert(1)" }, /publishes no addresses/],
    ["has its token endpoint on another host", { token_endpoint: "https://tokens.example.com/" }, /another host/],
  ])("is refused if it %s", (_, change, sentence) => {
    expect(() => readEndpoints({ ...document, ...change }, { issuer })).toThrow(sentence);
  });
});

describe("the URL that starts the sign-in at an issuer", () => {
  const config = { issuer, clientId: "console", audience: "nova" };
  const redirect = "https://nova.example.com/console/";
  const askedOf = (isOffline: boolean, authorization = `${issuer}/authorize?tenant=1`) => {
    const address = buildAuthorizationUrl({ authorization, isOffline }, config, redirect, "st&te", "challenge");
    return Object.fromEntries(new URL(address).searchParams);
  };

  it("requests a code with PKCE, and keeps the parameters that the issuer's URL already has", () => {
    expect(askedOf(true)).toEqual({
      tenant: "1",
      response_type: "code",
      client_id: "console",
      redirect_uri: redirect,
      state: "st&te",
      scope: "openid offline_access",
      code_challenge: "challenge",
      code_challenge_method: "S256",
      audience: "nova",
    });
  });

  it("requests no scope that the issuer does not support", () => {
    expect(askedOf(false).scope).toBe("openid");
  });

  it("contains the PKCE challenge that RFC 7636 gives for its example", async () => {
    const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    expect(await computeChallenge(verifier)).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  });
});

it("the console builds a sign-out URL from the issuer's URL, its own client id and its own URL", () => {
  const endOfSession = `${issuer}/logout?tenant=1`;
  const address = buildSignOutUrl(
    { endpoint: "", clientId: "console", endOfSession },
    "https://nova.example.com/console/",
  );
  const back = "post_logout_redirect_uri=https%3A%2F%2Fnova.example.com%2Fconsole%2F";
  expect(address).toBe(`${endOfSession}&client_id=console&${back}`);
  expect(buildSignOutUrl({ endpoint: "", clientId: "console", endOfSession: undefined }, "/")).toBeUndefined();
});

it.each([
  ["?code=a&state=b", true],
  ["?error=access_denied&state=b", true],
  ["?code=a", false],
  ["?state=b", false],
  ["", false],
  ["?workflow=bills", false],
])("the console recognises in its own URL whether the issuer has answered a sign-in (%j: %s)", (search, is) => {
  expect(readIssuerAnswer(search) !== undefined).toBe(is);
});

const at = { endpoint: "https://login.example.com/token", clientId: "console", endOfSession: undefined };
const body = { access_token: "a.b.c", token_type: "Bearer", expires_in: 300, refresh_token: "r" };
const now = 1_000_000;

describe("tokens of an issuer", () => {
  it("are stored with their expiry and token endpoint", () => {
    expect(parseTokens(body, at, now)).toEqual({ ...at, access: "a.b.c", endsAt: now + 300_000, refresh: "r" });
  });

  it("are accepted even without an expiry and a refresh token", () => {
    const { expires_in: _, refresh_token: __, ...least } = body;
    expect(parseTokens(least, at, now)).toMatchObject({ endsAt: undefined, refresh: undefined });
    expect(parseTokens({ ...body, expires_in: "soon" }, at, now).endsAt).toBeUndefined();
  });

  it.each([{ access_token: undefined }, { access_token: "a b\n" }, { token_type: "mac" }, { token_type: undefined }])(
    "are refused if the issuer's answer has these invalid members: %j",
    (change) => {
      expect(() => parseTokens({ ...body, ...change }, at, now)).toThrow(/no token that NOVA accepts/);
    },
  );
});

describe("an access token of an issuer", () => {
  const tokens = parseTokens(body, at, now);

  it("is renewed one minute before it expires, not sooner", () => {
    expect(isRenewalDue(tokens, now + 239_000)).toBe(false);
    expect(isRenewalDue(tokens, now + 241_000)).toBe(true);
  });

  it("is not renewed if it has no refresh token or no known expiry", () => {
    expect(isRenewalDue({ ...tokens, refresh: undefined }, now + 299_000)).toBe(false);
    expect(isRenewalDue({ ...tokens, endsAt: undefined }, now + 299_000)).toBe(false);
  });
});
