import { Forbidden, Unauthenticated } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Role } from "../ports/keys.ts";
import { hasRole } from "./principal.ts";
import { isDigestOf, readKeyText } from "./secret.ts";

/** Compared with where there is no key, so that an unknown id takes no other way than a wrong secret. */
const nobody = { digest: "00".repeat(32) };

type AccessPorts = Pick<ServicePorts, "keys" | "tokens" | "rates">;

/**
 * Who has this key, or whom this token of the issuer speaks for. Throws `Unauthenticated`, in the same words for every
 * reason; `TooMany`, `IssuerUnreachable`.
 */
export async function authenticate(ports: AccessPorts, text = ""): Promise<Principal> {
  const by = isToken(text) ? await ports.tokens?.principalOf(text) : await ownerOf(ports, text);
  if (!by) throw refusal();
  await ports.rates?.take(by);
  return by;
}

/** Three parts of base64url; no key has a dot in it. */
function isToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);
}

async function ownerOf(ports: Pick<ServicePorts, "keys">, text: string): Promise<Principal | null> {
  const given = readKeyText(text);
  if (!given) return null;
  const key = await ports.keys.get(given.id);
  const isRight = isDigestOf(given.secret, (key ?? nobody).digest);
  if (!key || !isRight) return null;
  const { id, role, client, name } = key;
  return { id, role, client, name };
}

function refusal(): Unauthenticated {
  return new Unauthenticated("no valid API key came with the request - send one as `Authorization: Bearer <key>`");
}

/** Throws `Forbidden`. */
export function demandRole(principal: Principal, least: Role): void {
  if (hasRole(principal, least)) return;
  throw new Forbidden(`this needs the role ${least}, the key has ${principal.role} - use a key of that role`);
}

/** For what all clients share. Throws `Forbidden`. */
export function demandAllClients({ client }: Principal): void {
  if (client === null) return;
  throw new Forbidden(`all clients share this, and the key is for "${client}" alone - use a key for all clients`);
}
