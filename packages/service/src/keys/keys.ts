import { digestOf, keyText, newSecret, reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { demandClient } from "../clients/clients.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { ApiKey, Principal, Role } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, type Range, readPage } from "../ports/page.ts";

export interface KeyRequest {
  /** ULID of the new key. */
  ulid: string;
  role: Role;
  /** Absent: as far as the key reaches that makes it. */
  client?: string;
  name?: string;
}

export interface NewKey {
  key: ApiKey;
  /** The whole key, which nobody can tell again; absent where an earlier delivery of the request was told. */
  text?: string;
}

export type KeyPorts = Pick<ServicePorts, "keys" | "clients" | "audit" | "clock">;

/** Makes a key; `by` null is whoever sets NOVA up. Throws `NotFound` where there is no such client within reach. */
export async function createKey(ports: KeyPorts, by: Principal | null, request: KeyRequest): Promise<NewKey> {
  const client = request.client ?? by?.client ?? null;
  if (client !== null) await demandClient(ports, by, client);
  const secret = newSecret();
  const key: ApiKey = {
    format: 1,
    id: `key_${request.ulid}`,
    role: request.role,
    client,
    name: request.name ?? "",
    digest: digestOf(secret),
    createdAt: new Date(ports.clock.now()).toISOString(),
    createdBy: by?.id ?? null,
  };
  if (!(await ports.keys.create(key))) return { key: (await ports.keys.get(key.id)) ?? key };
  await recordDeed(ports, by, { action: "key.created", client, subject: key.id, detail: { role: key.role } });
  return { key, text: keyText({ id: key.id, secret }) };
}

/** Throws `NotFound`; `Conflict` for the key that asks, which nobody could undo. */
export async function deleteKey(ports: KeyPorts, by: Principal, id: string): Promise<void> {
  const key = await ports.keys.get(id);
  if (!key || !reaches(by, key.client)) throw new NotFound(`there is no key "${id}" - GET /keys lists them`);
  if (id === by.id) throw new Conflict("a key cannot delete itself - use another admin key");
  if (!(await ports.keys.remove(id))) return;
  await recordDeed(ports, by, { action: "key.deleted", client: key.client, subject: id, detail: { role: key.role } });
}

/** Oldest first; with a key of one client those of that one. */
export function listKeys(
  { keys }: Pick<KeyPorts, "keys">,
  { client }: Principal,
  query: PageQuery,
): Promise<Page<ApiKey>> {
  const list = (range: Range) => keys.list({ ...range, client: client ?? undefined });
  return readPage(query, list, ({ id }) => id);
}
