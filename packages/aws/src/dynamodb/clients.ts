import type { ClientQuotas, ClientStore, Erasing } from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import { current, optionalTexts, requiredValue, texts, value } from "./fields.ts";
import {
  found,
  indexed,
  place,
  readSome,
  record,
  type Stored,
  type TableConnection,
  write,
  writeIf,
} from "./records.ts";

/** Keys of an item are never empty, and nothing sorts before a space. */
const beforeAll = " ";

/** Those for whom workflows run. */
export function createClientStore(connection: TableConnection): ClientStore {
  const clients = clientRecord(connection);
  return {
    create: (client) => writeIf(clients.create(client)),
    get: (slug) => found(clients.get({ slug }), clientOf),
    update: (slug, changes) => writeIf(clients.patch({ slug }).set(changes)),
    remove: (slug) => write(clients.delete({ slug })),
    async list({ limit, after = beforeAll }) {
      return (await readSome(clients.query.all({}).gt({ slug: after }), { count: limit })).map(clientOf);
    },
  };
}

function clientOf(item: Stored<typeof clientRecord>) {
  return current(`client "${item.slug}"`, item);
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
  { record: place("CLIENT#{slug}", "CLIENT"), all: indexed("by-client", "CLIENTS", "{slug}") },
);
