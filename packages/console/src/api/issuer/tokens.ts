import { texts } from "../../texts.ts";
import { askIssuer, parseRecord, SignInProblem } from "./ask.ts";

/** The token endpoint, the client id, and the address that ends the issuer's session. */
export interface TokenSource {
  endpoint: string;
  clientId: string;
  endOfSession: string | undefined;
}

export interface Tokens extends TokenSource {
  /** The access token for the API. */
  access: string;
  /** Milliseconds since 1970; undefined if the issuer does not report the expiry. */
  endsAt: number | undefined;
  /** Undefined: the user signs in again after the token expires. */
  refresh: string | undefined;
}

/** Parses an answer of the token endpoint. Throws `SignInProblem` if it contains no bearer token. */
export function parseTokens(
  body: Record<string, unknown>,
  { endpoint, clientId, endOfSession }: TokenSource,
  now: number,
): Tokens {
  const { access_token, token_type, expires_in, refresh_token } = body;
  const isBearer = typeof token_type === "string" && token_type.toLowerCase() === "bearer";
  if (typeof access_token !== "string" || !/^[\w.~+/=-]+$/.test(access_token) || !isBearer) {
    throw new SignInProblem(texts.signIn.problems.noToken);
  }
  const seconds = Number(expires_in);
  return {
    endpoint,
    clientId,
    endOfSession,
    access: access_token,
    endsAt: Number.isFinite(seconds) && seconds > 0 ? now + seconds * 1000 : undefined,
    refresh: typeof refresh_token === "string" && refresh_token !== "" ? refresh_token : undefined,
  };
}

/** A token is renewed this long before it expires. */
const earlyMs = 60_000;

/** Whether a token expires soon and can be renewed. */
export function isRenewalDue({ endsAt, refresh }: Tokens, now: number): boolean {
  return refresh !== undefined && endsAt !== undefined && endsAt - now < earlyMs;
}

/** Renews tokens. The old refresh token stays valid if the issuer sends no new one. Throws `SignInProblem`. */
export async function renewTokens(tokens: Tokens): Promise<Tokens> {
  const { endpoint, clientId, refresh = "" } = tokens;
  const form = { grant_type: "refresh_token", refresh_token: refresh, client_id: clientId };
  const { isOk, body } = await askIssuer(endpoint, form);
  if (!isOk) throw new SignInProblem(texts.signIn.problems.notRenewed);
  return parseTokens({ refresh_token: refresh, ...body }, tokens, Date.now());
}

const stored = "nova-tokens";

export function loadTokens(): Tokens | undefined {
  const tokens = parseRecord(sessionStorage.getItem(stored) ?? "");
  return tokens && typeof tokens.access === "string" ? (tokens as unknown as Tokens) : undefined;
}

export function saveTokens(tokens: Tokens | undefined): void {
  if (tokens) sessionStorage.setItem(stored, JSON.stringify(tokens));
  else sessionStorage.removeItem(stored);
}
