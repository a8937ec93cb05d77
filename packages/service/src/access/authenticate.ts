import { Forbidden, Unauthenticated } from "../errors.ts";
import { isDigestOf, readKeyText } from "../keys/secret.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Role } from "../ports/keys.ts";
import { hasRole, type Principal } from "./principal.ts";

/** Compared with where there is no key, so that an unknown id takes no other way than a wrong secret. */
const nobody = { digest: "00".repeat(32) };

/** Who has this key. Throws `Unauthenticated`, in the same words for every reason. */
export async function authenticate(ports: Pick<ServicePorts, "keys">, text: string | undefined): Promise<Principal> {
  const given = readKeyText(text ?? "");
  if (!given) throw refusal();
  const key = await ports.keys.get(given.id);
  const isRight = isDigestOf(given.secret, (key ?? nobody).digest);
  if (!key || !isRight) throw refusal();
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
