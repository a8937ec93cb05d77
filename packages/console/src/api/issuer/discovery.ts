import { askIssuer, isSafeAddress, SignInProblem } from "./ask.ts";

export interface Endpoints {
  authorization: string;
  token: string;
  /** It gives refresh tokens to whoever asks for `offline_access`. */
  isOffline: boolean;
  /** It names itself in its answers (RFC 9207). */
  namesItself: boolean;
}

export async function discover(issuer: string): Promise<Endpoints> {
  const { isOk, body } = await askIssuer(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!isOk) throw new SignInProblem(`${new URL(issuer).host} describes no sign-in. Ask who runs NOVA.`);
  return endpointsIn(body, issuer);
}

/** Throws where the document is another issuer's, or names an address that the page may not ask. */
export function endpointsIn(body: Record<string, unknown>, issuer: string): Endpoints {
  const { host, origin } = new URL(issuer);
  const { authorization_endpoint, token_endpoint, scopes_supported, authorization_response_iss_parameter_supported } =
    body;
  if (body.issuer !== issuer) {
    throw new SignInProblem(`${host} describes the sign-in of another issuer. Ask who runs NOVA.`);
  }
  if (!isSafeAddress(authorization_endpoint) || !isSafeAddress(token_endpoint)) {
    throw new SignInProblem(`${host} names no addresses to sign in at. Ask who runs NOVA.`);
  }
  // The page's policy knows this origin alone.
  if (new URL(token_endpoint).origin !== origin) {
    throw new SignInProblem(`${host} gives its tokens on another host, which this page may not ask. Use a key.`);
  }
  return {
    authorization: authorization_endpoint,
    token: token_endpoint,
    isOffline: Array.isArray(scopes_supported) && scopes_supported.includes("offline_access"),
    namesItself: authorization_response_iss_parameter_supported === true,
  };
}
