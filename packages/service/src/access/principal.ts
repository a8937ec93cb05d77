import type { Principal } from "../ports/access.ts";
import type { Role } from "../ports/keys.ts";
import { roles } from "../ports/keys.ts";

export function hasRole({ role }: Pick<Principal, "role">, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Whether what belongs to a client is within reach; null is what belongs to all of them. */
export function reaches({ client: own }: Pick<Principal, "client">, client: string | null): boolean {
  return own === null || own === client;
}
