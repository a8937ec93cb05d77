import type { ClientQuotas, ClientStore, Erasing } from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import { optionalTexts, requiredValue, requireFormat, texts, value } from "./fields.ts";
import {
  findItem,
  indexKeys,
  readSome,
  record,
  type Stored,
  type TableConnection,
  tableKeys,
  writeIf,
  writeItem,
} from "./records.ts";

/** DynamoDB refuses an empty key; a space sorts before every slug. */
const beforeAll = " ";

export function createClientStore(connection: TableConnection): ClientStore {
  const clients = clientRecord(connection);
  return {
    create: (client) => writeIf(clients.create(client)),
    get: (slug) => findItem(clients.get({ slug }), clientOf),
    update: (slug, changes) => writeIf(clients.patch({ slug }).set(changes)),
    remove: (slug) => writeItem(clients.delete({ slug })),
    async list({ limit, after = beforeAll }) {
      return (await readSome(clients.query.all({}).gt({ slug: after }), { count: limit })).map(clientOf);
    },
  };
}

function clientOf(item: Stored<typeof clientRecord>) {
  return requireFormat(`client "${item.slug}"`, item);
}

const clientRecord = record(
  "client",
  {
    ...texts("slug", "name", "createdAt"),
    ...optionalTexts("variables", "erasedUntil", "mailFrom"),
    pins: requiredValue<Record<string, number>>(),
    quotas: value<ClientQuotas>(),
    onFailure: value<OnFailure>(),
    erasing: value<Erasing>(),
  },
  { record: tableKeys("CLIENT#{slug}", "CLIENT"), all: indexKeys("by-client", "CLIENTS", "{slug}") },
);
