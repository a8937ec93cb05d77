import type { Delivery, DeliveryQuery, DeliveryStore } from "@nova/service";
import { numbers, omitAbsent, optionalTexts, requiredText, requireFormat, texts } from "./fields.ts";
import {
  hasValues,
  indexKeys,
  readItem,
  readSome,
  record,
  type Stored,
  type TableConnection,
  tableKeys,
  writeIf,
} from "./records.ts";

/** Stored when no workflow or client is known. It is not a valid workflow id or slug. */
const noOwner = "*";
/** Sorts after every id. */
const afterAll = "~";

/** Mails, webhook calls and events that arrived for triggers. */
export function createDeliveryStore(connection: TableConnection): DeliveryStore {
  const deliveries = deliveryRecord(connection);
  return {
    async begin(delivery) {
      if (await writeIf(deliveries.create(omitAbsent({ ...delivery, ...ownersOf(delivery) })))) return undefined;
      const item = await readItem(deliveries.get({ key: delivery.key }));
      // The SDK repeats a put whose answer was lost: the stored delivery is then our own.
      return item && item.id !== delivery.id ? deliveryOf(item) : undefined;
    },
    async finish(key, { status, execution, reason }) {
      const set = omitAbsent({ status, execution, reason });
      const absent = (["execution", "reason"] as const).filter((name) => !(name in set));
      const patch = deliveries.patch({ key }).set(set).remove(absent);
      await writeIf(patch.where((own, { ne }) => ne(own.status, "started")));
    },
    list: async (query) => (await newest(deliveries, query)).map(deliveryOf),
  };
}

function newest(deliveries: ReturnType<typeof deliveryRecord>, query: DeliveryQuery): Promise<DeliveryItem[]> {
  const { workflow, client, status, limit, after = afterAll } = query;
  const all =
    workflow !== undefined
      ? deliveries.query.ofWorkflow({ workflow: workflow ?? noOwner })
      : deliveries.query.ofClient({ client: client as string });
  return readSome(all.lt({ id: after }).where(hasValues({ status, client })), { order: "desc", count: limit });
}

function ownersOf({ workflow, client }: Pick<Delivery, "workflow" | "client">) {
  return { workflow: workflow ?? noOwner, client: client ?? noOwner };
}

function deliveryOf({ workflow, client, trigger, execution, reason, ...item }: DeliveryItem): Delivery {
  const ownerOrNull = (name: string) => (name === noOwner ? null : name);
  return {
    ...requireFormat(`delivery ${item.id}`, item),
    workflow: ownerOrNull(workflow),
    client: ownerOrNull(client),
    trigger: trigger ?? null,
    execution: execution ?? null,
    reason: reason ?? null,
  };
}

const deliveryRecord = record(
  "delivery",
  {
    ...texts("key", "id", "client", "at", "from", "about", "dedupe"),
    ...optionalTexts("trigger", "execution", "reason"),
    type: { type: ["mail", "imap", "webhook", "schedule", "event"], required: true },
    workflow: requiredText,
    status: { type: ["accepted", "started", "refused", "failed"], required: true },
    ...numbers("expiresAt"),
  },
  {
    record: tableKeys("DELIVERY#{key}", "DELIVERY"),
    ofWorkflow: indexKeys("by-workflow", "DELIVERY#{workflow}", "{id}"),
    ofClient: indexKeys("by-client", "DELIVERY#{client}", "{id}"),
  },
);

type DeliveryItem = Stored<typeof deliveryRecord>;
