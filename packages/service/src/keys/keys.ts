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
  /** Absent: the client of the key that makes it. */
  client?: string;
  name?: string;
}

export interface NewKey {
  key: ApiKey;
  /** The whole key, shown only once; absent if an earlier delivery of the request has already received it. */
  text?: string;
}

export type KeyPorts = Pick<ServicePorts, "keys" | "clients" | "audit" | "clock">;

/** Makes a key. `by` is null for the operator who sets NOVA up. Throws `NotFound` if the caller reaches no such client. */
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

/** Throws `NotFound`; `Conflict` for the caller's own key, since the caller could not undo that. */
export async function deleteKey(ports: KeyPorts, by: Principal, id: string): Promise<void> {
  const key = await ports.keys.get(id);
  if (!key || !reaches(by, key.client)) throw new NotFound(`there is no key "${id}" - GET /keys lists them`);
  if (id === by.id) throw new Conflict("a key cannot delete itself - use another admin key");
  if (!(await ports.keys.remove(id))) return;
  await recordDeed(ports, by, { action: "key.deleted", client: key.client, subject: id, detail: { role: key.role } });
}

/** Lists keys, oldest first; for the key of one client only keys of that client. */
export function listKeys(
  { keys }: Pick<KeyPorts, "keys">,
  { client }: Principal,
  query: PageQuery,
): Promise<Page<ApiKey>> {
  const list = (range: Range) => keys.list({ ...range, client: client ?? undefined });
  return readPage(query, list, ({ id }) => id);
}
