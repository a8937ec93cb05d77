import type { Client, ClientStore } from "@nova/service";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type ClientItem, clientEntity } from "./client-entity.ts";

const store = "DynamoDB";
/** Keys of an item are never empty, and nothing sorts before a space. */
const beforeAll = " ";

/** Those for whom workflows run. */
export function createClientStore(connection: TableConnection): ClientStore {
  const entity = whenAsked(() => clientEntity(connection));
  return {
    create: (client) => reachingIf(store, () => entity.create(client).go(plainly)),
    async get(slug) {
      const { data } = await reaching(store, () => entity.get({ slug }).go(consistently));
      return data ? clientOf(data) : undefined;
    },
    update: (slug, changes) => reachingIf(store, () => entity.patch({ slug }).set(changes).go(plainly)),
    async remove(slug) {
      await reaching(store, () => entity.delete({ slug }).go(plainly));
    },
    async list({ limit, after = beforeAll }) {
      const query = entity.query.all({}).gt({ slug: after });
      const { data } = await reaching(store, () => query.go({ ...plainly, count: limit }));
      return data.map(clientOf);
    },
  };
}

function clientOf({ format, ...client }: ClientItem): Client {
  checkFormat(`client "${client.slug}"`, format);
  return { ...client, format: FORMAT };
}
