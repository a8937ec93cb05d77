import { z } from "zod";
import { HostRefused, type OutgoingFetch } from "../../ports/outgoing.ts";
import type { OAuth2 } from "./kinds.ts";

/** The remaining life, in milliseconds, below which a token is replaced. */
const leastLifeMs = 60_000;
/** Pauses between tries at an endpoint that does not answer. A server restarts within seconds. */
const pausesMs = [1_000, 2_000, 4_000, 8_000];
/** The lifetime of a token without `expires_in`, which RFC 6749 makes optional. */
const usualLifeSeconds = 3600;

const Token = z.object({
  access_token: z.string().min(4),
  expires_in: z.coerce.number().positive().optional(),
  /** A server may return a new one with each use. */
  refresh_token: z.string().min(4).optional(),
});

/** The token endpoint refuses for good: another try would get the same answer. */
export class TokenRefused extends Error {
  override name = "TokenRefused";
}

/** The token endpoint did not answer in any try. */
export class TokenEndpointLost extends TokenRefused {
  override name = "TokenEndpointLost";
}

/** The token endpoint did not answer, or answered that it cannot for now. */
class Unanswered extends Error {
  override name = "Unanswered";
}

export interface TokenParts {
  now(): number;
  sleep(ms: number): Promise<unknown>;
  fetch: OutgoingFetch;
}

export function isFresh({ access_token, expires_at }: OAuth2, nowMs: number): boolean {
  if (access_token === undefined) return false;
  return expires_at === undefined || Date.parse(expires_at) - nowMs > leastLifeMs;
}

/** Returns `values` with a new access token (RFC 6749, 4.4 and 6). Throws `TokenRefused`, `TokenEndpointLost`. */
export async function askToken(values: OAuth2, parts: TokenParts): Promise<OAuth2> {
  for (let tries = 1; ; tries++) {
    try {
      return await askOnce(values, parts);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      const pauseMs = pausesMs[tries - 1];
      if (pauseMs === undefined) throw lost(values, tries, error);
      await parts.sleep(pauseMs);
    }
  }
}

async function askOnce(values: OAuth2, parts: TokenParts): Promise<OAuth2> {
  const response = await answerOf(values, parts);
  const token = Token.safeParse(await response.json().catch(() => null));
  if (response.status >= 500 || response.status === 429) throw new Unanswered(`answered ${response.status}`);
  if (!response.ok || !token.success) {
    throw new TokenRefused(
      `its token endpoint answered ${response.status} and no access token - store the credential again`,
    );
  }
  const { access_token, expires_in = usualLifeSeconds, refresh_token } = token.data;
  return {
    ...values,
    access_token,
    expires_at: new Date(parts.now() + expires_in * 1000).toISOString(),
    ...(refresh_token !== undefined && { refresh_token }),
  };
}

async function answerOf(values: OAuth2, { fetch: call }: TokenParts): Promise<Response> {
  const { token_url, client_id, client_secret, refresh_token, scope } = values;
  const grant = refresh_token === undefined ? "client_credentials" : "refresh_token";
  const form = Object.entries({ grant_type: grant, refresh_token, client_id, client_secret, scope });
  const body = new URLSearchParams(form.filter((field): field is [string, string] => field[1] !== undefined));
  try {
    return await call(token_url, { method: "POST", body, headers: { accept: "application/json" } });
  } catch (cause) {
    if (cause instanceof HostRefused) throw new TokenRefused(`its token_url is refused: ${cause.message}`, { cause });
    throw new Unanswered("does not answer", { cause });
  }
}

function lost({ token_url }: OAuth2, tries: number, cause: Unanswered): TokenEndpointLost {
  const what = `its token endpoint ${new URL(token_url).host} ${cause.message}, in ${tries} tries`;
  return new TokenEndpointLost(`${what} - correct its token_url, or start the run again when it is there`, { cause });
}
