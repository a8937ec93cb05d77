import { isSafeAddress, parseRecord } from "./ask.ts";

/** The issuer that signs people in, in addition to API keys. */
export interface IssuerConfig {
  /** The `iss` of its tokens. The discovery document is at a path below it. */
  issuer: string;
  clientId: string;
  audience: string | undefined;
  /** The origin of its token endpoint, if it differs from the issuer's origin. */
  tokenOrigin?: string;
}

/** Parses `config.json`. Returns undefined if only API keys can sign in. */
export function parseConfig(text: string): IssuerConfig | undefined {
  const { issuer, client_id, audience, token_origin } = parseRecord(text) ?? {};
  if (!isSafeAddress(issuer) || typeof client_id !== "string" || client_id === "") return undefined;
  return {
    issuer,
    clientId: client_id,
    audience: typeof audience === "string" && audience ? audience : undefined,
    ...(isSafeAddress(token_origin) && { tokenOrigin: new URL(token_origin).origin }),
  };
}
