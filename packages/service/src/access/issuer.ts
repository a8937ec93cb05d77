import { createHash } from "node:crypto";
import type { createRemoteJWKSet, JWTPayload } from "jose";
import { IssuerUnreachable } from "../errors.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import { type Principal, roles, type TokenIssuer } from "../ports/access.ts";

export interface IssuerOptions {
  issuer: string;
  audience: string;
  /** URL of the issuer's public keys; absent: the issuer's `/.well-known/jwks.json`. */
  jwksUrl?: string | undefined;
  roleClaim: string;
  /** Name of the claim whose value is the client, or `*` for all clients. A token without a valid claim is rejected. */
  clientClaim: string;
}

/**
 * All accepted algorithms are asymmetric. A symmetric one would accept a token that an attacker signs with the public
 * key as the secret.
 */
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
/** Tolerated difference between clocks. */
const toleranceSeconds = 30;

/** Accepts the tokens of an issuer. Its keys are fetched for the first token, and cached for ten minutes. */
export function trustIssuer({ fetch }: Pick<Outgoing, "fetch">, options: IssuerOptions): TokenIssuer {
  const { issuer, audience, jwksUrl = `${issuer.replace(/\/$/, "")}/.well-known/jwks.json` } = options;
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  return {
    async principalOf(token) {
      const { createRemoteJWKSet, customFetch, errors, jwtVerify } = await import("jose");
      keys ??= createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: 3_000, [customFetch]: fetch });
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms,
          clockTolerance: toleranceSeconds,
          requiredClaims: ["sub", "exp"],
        });
        return principalIn(payload, options, Date.now() / 1000);
      } catch (cause) {
        if (cause instanceof errors.JOSEError && !unreachable.includes(cause.code)) return null;
        throw new IssuerUnreachable(`the keys at ${jwksUrl} cannot be read - try again`, { cause });
      }
    },
  };
}

/** Error codes of the library jose for a timeout, and for an answer that is not a key set. */
const unreachable = ["ERR_JWKS_TIMEOUT", "ERR_JOSE_GENERIC", "ERR_JWKS_INVALID"];

/** OpenID Connect limits a subject to 255 characters. Lists show it, so it must be printable. */
const subjectPattern = /^(?=.*\S)[^\p{C}]{1,255}$/u;
const clientPattern = /^(\*|[a-z0-9][a-z0-9-]{0,62})$/;

function principalIn(
  payload: JWTPayload,
  { issuer, roleClaim, clientClaim }: IssuerOptions,
  nowSeconds: number,
): Principal | null {
  const { sub, iat = 0, [roleClaim]: claimed, [clientClaim]: client } = payload;
  const role = roles.find((known) => known === claimed);
  if (!role || typeof client !== "string" || !clientPattern.test(client)) return null;
  if (typeof sub !== "string" || !subjectPattern.test(sub)) return null;
  if (typeof iat !== "number" || iat > nowSeconds + toleranceSeconds) return null;
  // Two issuers may use the same subject, so the id includes the issuer.
  const id = `sub_${createHash("sha256").update(`${issuer}\n${sub}`).digest("hex").slice(0, 32)}`;
  return { id, role, client: client === "*" ? null : client, name: sub };
}
