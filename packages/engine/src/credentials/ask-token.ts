import { z } from "zod";
import { NovaError } from "../errors.ts";
import type { OAuth2 } from "./kinds/oauth2.ts";

/** A token is got anew when it has less than this to live. */
const leastLifeMs = 60_000;
const longestAnswerMs = 10_000;
/** RFC 6749 lets a server leave the lifetime out. */
const usualLifeSeconds = 3600;

const Token = z.object({
  access_token: z.string().min(4),
  expires_in: z.coerce.number().positive().optional(),
  /** A server may replace it with each use. */
  refresh_token: z.string().min(4).optional(),
});

/** How a token endpoint is called: `fetch`, unless a test says otherwise. */
export type Post = (url: string, init: RequestInit) => Promise<Response>;

/** The endpoint says no, and will say so again. */
export class TokenRefused extends Error {
  override name = "TokenRefused";
}

export function isFresh({ access_token, expires_at }: OAuth2, nowMs: number): boolean {
  if (access_token === undefined) return false;
  return expires_at === undefined || Date.parse(expires_at) - nowMs > leastLifeMs;
}

/**
 * The credential with a new access token (RFC 6749, 4.4 and 6). Throws `TokenRefused` where the endpoint refuses, and
 * `SandboxUnavailable`, which is tried again, where it does not answer.
 */
export async function askToken(values: OAuth2, post: Post, nowMs: number): Promise<OAuth2> {
  const response = await answerOf(values, post);
  if (response.status >= 500 || response.status === 429) throw unreachable(values, `it answered ${response.status}`);
  const token = Token.safeParse(await response.json().catch(() => null));
  if (!response.ok || !token.success) {
    throw new TokenRefused(`its token endpoint answered ${response.status} and no access token - store it anew`);
  }
  const { access_token, expires_in = usualLifeSeconds, refresh_token } = token.data;
  return {
    ...values,
    access_token,
    expires_at: new Date(nowMs + expires_in * 1000).toISOString(),
    ...(refresh_token !== undefined && { refresh_token }),
  };
}

async function answerOf(values: OAuth2, post: Post): Promise<Response> {
  const { token_url, client_id, client_secret, refresh_token, scope } = values;
  const grant = refresh_token === undefined ? "client_credentials" : "refresh_token";
  const form = Object.entries({ grant_type: grant, refresh_token, client_id, client_secret, scope });
  const body = new URLSearchParams(form.filter((field): field is [string, string] => field[1] !== undefined));
  try {
    const signal = AbortSignal.timeout(longestAnswerMs);
    // A redirect would take the secret to somewhere else.
    return await post(token_url, {
      method: "POST",
      body,
      signal,
      redirect: "error",
      headers: { accept: "application/json" },
    });
  } catch (cause) {
    throw unreachable(values, "it does not answer", cause);
  }
}

function unreachable({ token_url }: OAuth2, why: string, cause?: unknown): NovaError {
  return new NovaError("SandboxUnavailable", `no access token from ${new URL(token_url).host}: ${why}`, { cause });
}
