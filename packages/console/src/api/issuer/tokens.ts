import { texts } from "../../texts.ts";
import { askIssuer, parseRecord, SignInProblem } from "./ask.ts";

/** Where a token is renewed, as whom, and where the issuer ends its session. */
export interface TokenSource {
  endpoint: string;
  clientId: string;
  endOfSession: string | undefined;
}

export interface Tokens extends TokenSource {
  /** What the API takes. */
  access: string;
  /** Milliseconds; undefined: the issuer has not said, and the API will. */
  endsAt: number | undefined;
  /** Undefined: whoever wants to go on signs in again. */
  refresh: string | undefined;
}

/** Of an answer of the token endpoint. Throws where it is none. */
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

/** So long before its end a token is renewed. */
const earlyMs = 60_000;

/** Whether it is time for another one, and there is a way to get it. */
export function isRenewalDue({ endsAt, refresh }: Tokens, now: number): boolean {
  return refresh !== undefined && endsAt !== undefined && endsAt - now < earlyMs;
}

/** An issuer that sends no new refresh token means the old one. Throws `SignInProblem`. */
export async function renewTokens(tokens: Tokens): Promise<Tokens> {
  const { endpoint, clientId, refresh = "" } = tokens;
  const form = { grant_type: "refresh_token", refresh_token: refresh, client_id: clientId };
  const { isOk, body } = await askIssuer(endpoint, form);
  if (!isOk) throw new SignInProblem(texts.signIn.problems.notRenewed);
  return parseTokens({ refresh_token: refresh, ...body }, tokens, Date.now());
}

const stored = "nova-tokens";

export function loadTokens(): Tokens | undefined {
  const kept = parseRecord(sessionStorage.getItem(stored) ?? "");
  return kept && typeof kept.access === "string" ? (kept as unknown as Tokens) : undefined;
}

export function saveTokens(tokens: Tokens | undefined): void {
  if (tokens) sessionStorage.setItem(stored, JSON.stringify(tokens));
  else sessionStorage.removeItem(stored);
}
