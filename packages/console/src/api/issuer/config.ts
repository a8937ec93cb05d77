import { isSafeAddress, parseRecord } from "./ask.ts";

/** Who signs people in besides keys. */
export interface IssuerConfig {
  /** `iss` of its tokens; its discovery document lies below it. */
  issuer: string;
  clientId: string;
  audience: string | undefined;
  /** Where it gives its tokens, if not at its own origin. */
  tokenOrigin?: string;
}

/** Anything that is no such file means that keys alone sign in. */
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
