import type { ApiKey, Role } from "../ports/keys.ts";
import { roles } from "../ports/keys.ts";

/** Who asks. */
export type Principal = Pick<ApiKey, "id" | "role" | "client" | "name">;

export function hasRole({ role }: Pick<Principal, "role">, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Whether what belongs to a client is within reach; null is what belongs to all of them. */
export function reaches({ client: own }: Pick<Principal, "client">, client: string | null): boolean {
  return own === null || own === client;
}
