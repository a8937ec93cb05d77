import type { Key, NovaClient, Schemas } from "@nova/client";
import type { ApiKey, KeyPorts, Role } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { monotonicFactory } from "ulid";
import { askApi } from "../api/ask.ts";
import { reachingAws } from "../archive/deployed.ts";
import { thisUser } from "../this-user.ts";

export interface NewKeyRequest {
  role: Role;
  client?: string;
  name?: string;
}

/** Where keys are kept: behind an API, or in a table that this process may write to. */
export interface KeyPlace {
  create(request: NewKeyRequest): Promise<Schemas["CreatedKey"]>;
  list(): Promise<Key[]>;
  remove(id: string): Promise<void>;
}

const nextId = monotonicFactory();

/**
 * The server that `NOVA_URL` names; without one, the table of `NOVA_TABLE`, which is how a deployment gets its first key;
 * else this machine's cloud.
 */
export async function withKeys<T>(work: (keys: KeyPlace) => Promise<T>): Promise<T> {
  const { NOVA_URL: url, NOVA_TABLE: table, NOVA_DATA_DIR: dataDir } = process.env;
  if (url || !table || dataDir) return askApi((nova) => work(keysBehind(nova)));
  const { createServiceStores } = await import("@nova/aws");
  const clock = { now: () => Date.now(), sleep: async () => {} };
  return reachingAws({ table }, () => work(keysIn({ ...createServiceStores({ table }), clock })));
}

function keysBehind({ keys }: NovaClient): KeyPlace {
  return {
    create: ({ role, client, name }) => keys.create(defined({ role, client_slug: client, name })),
    list: () => Array.fromAsync(keys.list()),
    remove: (id) => keys.delete(id),
  };
}

function keysIn(ports: KeyPorts): KeyPlace {
  return {
    async create(request) {
      const { createKey } = await import("@nova/service");
      const { key, text = "" } = await createKey(ports, null, { ulid: nextId(), ...request });
      return { ...itemOf(key), key: text };
    },
    async list() {
      const { everyItem, listKeys } = await import("@nova/service");
      const pageAt = (cursor?: string) => listKeys(ports, thisUser(), { limit: 200, cursor });
      return (await Array.fromAsync(everyItem(pageAt))).map(itemOf);
    },
    async remove(id) {
      const { deleteKey } = await import("@nova/service");
      await deleteKey(ports, thisUser(), id);
    },
  };
}

function itemOf({ id, role, client, name, createdAt, createdBy }: ApiKey): Key {
  return { id, role, client_slug: client, name, created_at: createdAt, created_by: createdBy };
}
