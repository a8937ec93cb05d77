import type { ClientQuotas, ClientStore, Erasing } from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import { requiredNumber, requiredText, requiredValue, text, value } from "./fields.ts";
import { current } from "./format.ts";
import {
  indexed,
  place,
  read,
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
    async get(slug) {
      const item = await read(clients.get({ slug }));
      return item ? clientOf(item) : undefined;
    },
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
    slug: requiredText,
    format: requiredNumber,
    name: requiredText,
    pins: requiredValue<Record<string, number>>(),
    variables: text,
    erasedUntil: text,
    quotas: value<ClientQuotas>(),
    onFailure: value<OnFailure>(),
    mailFrom: text,
    createdAt: requiredText,
    erasing: value<Erasing>(),
  },
  { record: place("CLIENT#{slug}", "CLIENT"), all: indexed("by-client", "CLIENTS", "{slug}") },
);
