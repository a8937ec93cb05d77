import { describe, expect, it } from "vitest";
import { isDue, tokensIn } from "../../../../packages/console/src/api/issuer/tokens.ts";

const at = { endpoint: "https://login.example.com/token", clientId: "console", endOfSession: undefined };
const body = { access_token: "a.b.c", token_type: "Bearer", expires_in: 300, refresh_token: "r" };
const now = 1_000_000;

describe("tokens of an issuer", () => {
  it("are kept with the time of their end, and where they are renewed", () => {
    expect(tokensIn(body, at, now)).toEqual({ ...at, access: "a.b.c", endsAt: now + 300_000, refresh: "r" });
  });

  it("need not say when they end, nor be renewable", () => {
    const { expires_in: _, refresh_token: __, ...least } = body;
    expect(tokensIn(least, at, now)).toMatchObject({ endsAt: undefined, refresh: undefined });
    expect(tokensIn({ ...body, expires_in: "soon" }, at, now).endsAt).toBeUndefined();
  });

  it.each([{ access_token: undefined }, { access_token: "a b\n" }, { token_type: "mac" }, { token_type: undefined }])(
    "are none with %j",
    (change) => {
      expect(() => tokensIn({ ...body, ...change }, at, now)).toThrow(/no token that NOVA takes/);
    },
  );
});

describe("a token", () => {
  const tokens = tokensIn(body, at, now);

  it("is renewed a minute before its end, not sooner", () => {
    expect(isDue(tokens, now + 239_000)).toBe(false);
    expect(isDue(tokens, now + 241_000)).toBe(true);
  });

  it("is used to its end where nothing renews it", () => {
    expect(isDue({ ...tokens, refresh: undefined }, now + 299_000)).toBe(false);
    expect(isDue({ ...tokens, endsAt: undefined }, now + 299_000)).toBe(false);
  });
});
