import { createHash } from "node:crypto";
import type { createRemoteJWKSet, JWTPayload } from "jose";
import { IssuerUnreachable } from "../errors.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import { type Principal, roles, type TokenIssuer } from "../ports/access.ts";

export interface IssuerOptions {
  /** `iss` of its tokens. */
  issuer: string;
  /** `aud` of the tokens that are meant for NOVA. */
  audience: string;
  /** Absent: `/.well-known/jwks.json` of the issuer. */
  jwksUrl?: string | undefined;
  /** Claim with the role. */
  roleClaim: string;
  /** Claim with the one client that a token reaches, or `*` for all: one that says neither reaches nothing. */
  clientClaim: string;
}

/** No secret is shared with an issuer, so nothing symmetric: a public key must never pass for one. */
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
/** Clocks differ. */
const toleranceSeconds = 30;

/** Trusts the tokens of an issuer. Its keys are fetched when the first one comes, and kept for ten minutes. */
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

/** Of jose: no answer in time, and an answer that is no key set. */
const unreachable = ["ERR_JWKS_TIMEOUT", "ERR_JOSE_GENERIC", "ERR_JWKS_INVALID"];

/** OpenID Connect gives a subject 255 letters. Lists show it, so it has letters that can be shown. */
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
  // Two issuers may know the same subject.
  const id = `sub_${createHash("sha256").update(`${issuer}\n${sub}`).digest("hex").slice(0, 32)}`;
  return { id, role, client: client === "*" ? null : client, name: sub };
}
