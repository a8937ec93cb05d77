import { describe, expect, it } from "vitest";
import { isRenewalDue, parseTokens } from "../../../../packages/console/src/api/issuer/tokens.ts";

const at = { endpoint: "https://login.example.com/token", clientId: "console", endOfSession: undefined };
const body = { access_token: "a.b.c", token_type: "Bearer", expires_in: 300, refresh_token: "r" };
const now = 1_000_000;

describe("tokens of an issuer", () => {
  it("are stored with their expiry and token endpoint", () => {
    expect(parseTokens(body, at, now)).toEqual({ ...at, access: "a.b.c", endsAt: now + 300_000, refresh: "r" });
  });

  it("may lack an expiry and a refresh token", () => {
    const { expires_in: _, refresh_token: __, ...least } = body;
    expect(parseTokens(least, at, now)).toMatchObject({ endsAt: undefined, refresh: undefined });
    expect(parseTokens({ ...body, expires_in: "soon" }, at, now).endsAt).toBeUndefined();
  });

  it.each([{ access_token: undefined }, { access_token: "a b\n" }, { token_type: "mac" }, { token_type: undefined }])(
    "are refused with %j",
    (change) => {
      expect(() => parseTokens({ ...body, ...change }, at, now)).toThrow(/no token that NOVA accepts/);
    },
  );
});

describe("a token", () => {
  const tokens = parseTokens(body, at, now);

  it("is renewed one minute before it expires, not sooner", () => {
    expect(isRenewalDue(tokens, now + 239_000)).toBe(false);
    expect(isRenewalDue(tokens, now + 241_000)).toBe(true);
  });

  it("is used until it expires if it cannot be renewed", () => {
    expect(isRenewalDue({ ...tokens, refresh: undefined }, now + 299_000)).toBe(false);
    expect(isRenewalDue({ ...tokens, endsAt: undefined }, now + 299_000)).toBe(false);
  });
});
