import { askIssuer, isSafeAddress, SignInProblem } from "./ask.ts";
import type { IssuerConfig } from "./config.ts";

type Named = Pick<IssuerConfig, "issuer" | "tokenOrigin">;

export interface Endpoints {
  authorization: string;
  token: string;
  /** Where its own session is ended (OpenID Connect RP-Initiated Logout); undefined: it names no such address. */
  endOfSession: string | undefined;
  /** It gives refresh tokens to whoever asks for `offline_access`. */
  isOffline: boolean;
  /** It names itself in its answers (RFC 9207). */
  namesItself: boolean;
}

export async function discover(named: Named): Promise<Endpoints> {
  const { issuer } = named;
  const { isOk, body } = await askIssuer(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!isOk) throw new SignInProblem(`${new URL(issuer).host} describes no sign-in. Ask who runs NOVA.`);
  return endpointsIn(body, named);
}

/** Throws where the document is another issuer's, or names an address that the page may not ask. */
export function endpointsIn(body: Record<string, unknown>, { issuer, tokenOrigin }: Named): Endpoints {
  const { host, origin } = new URL(issuer);
  const { authorization_endpoint, token_endpoint, end_session_endpoint, scopes_supported } = body;
  if (body.issuer !== issuer) {
    throw new SignInProblem(`${host} describes the sign-in of another issuer. Ask who runs NOVA.`);
  }
  if (!isSafeAddress(authorization_endpoint) || !isSafeAddress(token_endpoint)) {
    throw new SignInProblem(`${host} names no addresses to sign in at. Ask who runs NOVA.`);
  }
  // The page's policy knows these origins alone.
  if (![origin, tokenOrigin].includes(new URL(token_endpoint).origin)) {
    throw new SignInProblem(`${host} gives its tokens on another host, which this page may not ask. Use a key.`);
  }
  return {
    authorization: authorization_endpoint,
    token: token_endpoint,
    endOfSession: isSafeAddress(end_session_endpoint) ? end_session_endpoint : undefined,
    isOffline: Array.isArray(scopes_supported) && scopes_supported.includes("offline_access"),
    namesItself: body.authorization_response_iss_parameter_supported === true,
  };
}
