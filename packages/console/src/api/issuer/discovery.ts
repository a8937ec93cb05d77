import { texts } from "../../texts.ts";
import { askIssuer, isSafeAddress, SignInProblem } from "./ask.ts";
import type { IssuerConfig } from "./config.ts";

const { problems } = texts.signIn;

type Named = Pick<IssuerConfig, "issuer" | "tokenOrigin">;

export interface Endpoints {
  authorization: string;
  token: string;
  /** The address that ends the issuer's session (OpenID Connect RP-Initiated Logout), if it names one. */
  endOfSession: string | undefined;
  /** The issuer supports the scope `offline_access` for refresh tokens. */
  isOffline: boolean;
  /** The issuer adds `iss` to its answers (RFC 9207). */
  namesItself: boolean;
}

export async function discoverEndpoints(named: Named): Promise<Endpoints> {
  const { issuer } = named;
  const { isOk, body } = await askIssuer(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!isOk) throw new SignInProblem(problems.noSignIn(new URL(issuer).host));
  return readEndpoints(body, named);
}

/**
 * Reads the endpoints of a discovery document. Throws if it belongs to another issuer, or names an address that the
 * page may not call.
 */
export function readEndpoints(body: Record<string, unknown>, { issuer, tokenOrigin }: Named): Endpoints {
  const { host, origin } = new URL(issuer);
  const { authorization_endpoint, token_endpoint, end_session_endpoint, scopes_supported } = body;
  if (body.issuer !== issuer) {
    throw new SignInProblem(problems.otherDocument(host));
  }
  if (!isSafeAddress(authorization_endpoint) || !isSafeAddress(token_endpoint)) {
    throw new SignInProblem(problems.noAddresses(host));
  }
  // The page's content security policy allows only these origins.
  if (![origin, tokenOrigin].includes(new URL(token_endpoint).origin)) {
    throw new SignInProblem(problems.otherHost(host));
  }
  return {
    authorization: authorization_endpoint,
    token: token_endpoint,
    endOfSession: isSafeAddress(end_session_endpoint) ? end_session_endpoint : undefined,
    isOffline: Array.isArray(scopes_supported) && scopes_supported.includes("offline_access"),
    namesItself: body.authorization_response_iss_parameter_supported === true,
  };
}
