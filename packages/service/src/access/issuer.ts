import { createHash } from "node:crypto";
import type { Person } from "@nova/engine";
import { isMailAddress } from "@nova/workflow";
import type { createRemoteJWKSet, JWTPayload } from "jose";
import { IssuerUnreachable } from "../errors.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import { type Principal, roles, type TokenIssuer } from "../ports/index.ts";

export interface IssuerOptions {
  issuer: string;
  audience: string;
  /** URL of the issuer's public keys; absent: the issuer's `/.well-known/jwks.json`. */
  jwksUrl?: string | undefined;
  roleClaim: string;
  /** Name of the claim whose value is the client, or `*` for all clients. A token without a valid claim is rejected. */
  clientClaim: string;
  /**
   * Names of the claims with the groups and the roles of the token's subject. Approvals may name these groups and
   * roles. Absent: `groups` and `roles`.
   */
  groupsClaim?: string;
  rolesClaim?: string;
}

/**
 * All accepted algorithms are asymmetric. With a symmetric algorithm, an attacker could sign a token with the public
 * key as the secret.
 */
const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
/** Tolerated difference between the clocks of the issuer and of NOVA: five minutes. */
const toleranceSeconds = 300;

/**
 * Returns a `TokenIssuer` that accepts the tokens of one issuer. The first token makes the library jose fetch the
 * issuer's keys, and jose caches them for ten minutes.
 */
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

/**
 * Pattern of a token's subject. OpenID Connect limits a subject to 255 characters. A subject must be printable, because
 * lists show it.
 */
const subjectPattern = /^(?=.*\S)[^\p{C}]{1,255}$/u;
const clientPattern = /^(\*|[a-z0-9][a-z0-9-]{0,62})$/;

function principalIn(
  payload: JWTPayload,
  { issuer, roleClaim, clientClaim, groupsClaim = "groups", rolesClaim = "roles" }: IssuerOptions,
  nowSeconds: number,
): Principal | null {
  const { sub, iat = 0, [roleClaim]: claimed, [clientClaim]: client } = payload;
  const role = roles.find((known) => known === claimed);
  if (!role || typeof client !== "string" || !clientPattern.test(client)) return null;
  if (typeof sub !== "string" || !subjectPattern.test(sub)) return null;
  if (typeof iat !== "number" || iat > nowSeconds + toleranceSeconds) return null;
  // Two issuers may use the same subject, so the id includes the issuer.
  const id = `sub_${createHash("sha256").update(`${issuer}\n${sub}`).digest("hex").slice(0, 32)}`;
  const mail = verifiedMail(payload);
  const person: Person = {
    // The word `subject` marks an unverified name, because a subject may look like the mail address of another person.
    name: mail ?? `subject ${sub}`,
    ids: [...(mail === undefined ? [] : [mail]), id],
    roles: [...new Set([role, ...namesIn(payload[rolesClaim])])],
    groups: namesIn(payload[groupsClaim]),
    via: { kind: "jwt", issuer },
  };
  return { id, role, client: client === "*" ? null : client, name: sub, person };
}

/** Returns the mail address in lower case, if the issuer says that it has verified the address; undefined otherwise. */
function verifiedMail({ email, email_verified }: JWTPayload): string | undefined {
  const isVerified = email_verified === true && typeof email === "string" && isMailAddress(email);
  return isVerified ? email.toLowerCase() : undefined;
}

/**
 * Maximum number of names in a claim, and maximum length of a name. A claim with more names counts as empty, and a
 * longer name is left out.
 */
const maxNames = 1_000;
const longestName = 255;

/**
 * Returns the names in a claim: a text, or a list of texts. A claim of another form, or with too many names, counts as
 * empty.
 */
function namesIn(claim: unknown): string[] {
  const names = typeof claim === "string" ? [claim] : claim;
  if (!Array.isArray(names) || names.length > maxNames) return [];
  return names.filter((name): name is string => typeof name === "string" && name !== "" && name.length <= longestName);
}
