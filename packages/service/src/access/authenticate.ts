import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { Forbidden, Unauthenticated } from "../errors.ts";
import { type Principal, type Role, roles, type ServicePorts } from "../ports/index.ts";

export function hasRole({ role }: Pick<Principal, "role">, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Returns whether a caller may access records of `client`. If `client` is null, all clients share the records. */
export function reaches({ client: own }: Pick<Principal, "client">, client: string | null): boolean {
  return own === null || own === client;
}

const secretBytes = 32;
/** The form of a key: `nova_`, the ULID of its id, `_`, and 32 random bytes in base64url. */
const pattern = /^nova_([0-9A-HJKMNP-TV-Z]{26})_([A-Za-z0-9_-]{43})$/;

export function newSecret(): string {
  return randomBytes(secretBytes).toString("base64url");
}

export function keyText({ id, secret }: { id: string; secret: string }): string {
  return `nova_${id.slice("key_".length)}_${secret}`;
}

export function readKeyText(text: string) {
  const [, ulid, secret] = pattern.exec(text) ?? [];
  return ulid === undefined || secret === undefined ? undefined : { id: `key_${ulid}`, secret };
}

/**
 * Returns the SHA-256 of a secret, in hex. A fast hash suffices: slow password hashes protect guessable secrets, and
 * 256 random bits cannot be guessed.
 */
export function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function isDigestOf(secret: string, digest: string): boolean {
  return timingSafeEqual(Buffer.from(digestOf(secret), "hex"), Buffer.from(digest, "hex"));
}

/**
 * For an unknown key, `ownerOf` compares the secret with this digest. So the refusal of an unknown key takes as long as
 * the refusal of a wrong secret.
 */
const unknownKey = { digest: "00".repeat(32) };

/**
 * Returns the caller to whom `text`, an API key or a token, belongs. Throws `Unauthenticated` without the exact reason
 * if `text` is not valid, `TooMany` if the caller has sent too many requests, and `IssuerUnreachable`.
 */
export async function authenticate(
  ports: Pick<ServicePorts, "keys" | "tokens" | "rates">,
  text = "",
): Promise<Principal> {
  // A token has three parts of base64url, separated by dots. A key contains no dot.
  const isToken = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
  const by = isToken ? await ports.tokens?.principalOf(text) : await ownerOf(ports, text);
  if (!by) {
    throw new Unauthenticated(
      isToken && ports.tokens
        ? "no valid sign-in token came with the request - sign in again, or send an API key as `Authorization: Bearer <key>`"
        : "no valid API key came with the request - send one as `Authorization: Bearer <key>`",
    );
  }
  await ports.rates?.take(by);
  return by;
}

async function ownerOf(ports: Pick<ServicePorts, "keys">, text: string): Promise<Principal | null> {
  const presented = readKeyText(text);
  if (!presented) return null;
  const key = await ports.keys.get(presented.id);
  const isRight = isDigestOf(presented.secret, (key ?? unknownKey).digest);
  if (!key || !isRight) return null;
  const { id, role, client, name, identity } = key;
  const via = { kind: "key" as const, key: id };
  const person = identity !== undefined && { name: identity, ids: [identity], roles: [role], groups: [], via };
  return { id, role, client, name, ...(person && { person }) };
}

/** Throws `Forbidden` if the caller's role is below `least`. */
export function demandRole(principal: Principal, least: Role): void {
  if (hasRole(principal, least)) return;
  throw new Forbidden(`this needs the role ${least}, the key has ${principal.role} - use a key of that role`);
}

/** Throws `Forbidden` if the caller's key is for one client only: such a key must not use what all clients share. */
export function demandAllClients({ client }: Principal): void {
  if (client === null) return;
  throw new Forbidden(`all clients share this, and the key is for "${client}" alone - use a key for all clients`);
}
