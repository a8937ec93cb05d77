import type { Key, NovaClient } from "@nova/client";
import type { ApiKey, KeyPorts } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { monotonicFactory } from "ulid";
import { askApi } from "../api/ask.ts";
import { explainAwsErrors } from "../archive/deployed.ts";
import { thisUser } from "../this-user.ts";

/** Manages API keys through an API, or directly in a deployment's table. */
export type KeyPlace = Pick<NovaClient["keys"], "create" | "list" | "delete">;

const nextId = monotonicFactory();

/**
 * Runs `work` with the server in `NOVA_URL`, else with the table in `NOVA_TABLE` (for a deployment's first key), else
 * with this machine's cloud.
 */
export async function withKeys<T>(work: (keys: KeyPlace) => Promise<T>): Promise<T> {
  const { NOVA_URL: url, NOVA_TABLE: table, NOVA_DATA_DIR: dataDir } = process.env;
  if (url || !table || dataDir) return askApi(({ keys }) => work(keys));
  const { createServiceStores } = await import("@nova/aws");
  const clock = { now: () => Date.now(), sleep: async () => {} };
  return explainAwsErrors({ table }, () => work(keysIn({ ...createServiceStores({ table }), clock })));
}

function keysIn(ports: KeyPorts): KeyPlace {
  return {
    async create({ client_slug: client, ...asked }) {
      const { createKey } = await import("@nova/service");
      const { key, text = "" } = await createKey(ports, null, defined({ ulid: nextId(), ...asked, client }));
      return { ...itemOf(key), key: text };
    },
    async *list() {
      const { everyItem, listKeys } = await import("@nova/service");
      for await (const key of everyItem((cursor) => listKeys(ports, thisUser(), { limit: 200, cursor })))
        yield itemOf(key);
    },
    async delete(id) {
      const { deleteKey } = await import("@nova/service");
      await deleteKey(ports, thisUser(), id);
    },
  };
}

function itemOf({ id, role, client, name, createdAt, createdBy }: ApiKey): Key {
  return { id, role, client_slug: client, name, created_at: createdAt, created_by: createdBy };
}
