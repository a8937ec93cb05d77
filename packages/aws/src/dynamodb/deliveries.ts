import type { Delivery, DeliveryQuery, DeliveryStore } from "@nova/service";
import { current, numbers, optionalTexts, present, requiredText, texts } from "./fields.ts";
import {
  having,
  indexed,
  place,
  read,
  readSome,
  record,
  type Stored,
  type TableConnection,
  writeIf,
} from "./records.ts";

const nobodys = "*";
/** Behind every id. */
const afterAll = "~";

/** What came in for triggers, for as long as its time to live. */
export function createDeliveryStore(connection: TableConnection): DeliveryStore {
  const deliveries = deliveryRecord(connection);
  return {
    async begin(delivery) {
      if (await writeIf(deliveries.create(present({ ...delivery, ...ownersOf(delivery) })))) return undefined;
      const item = await read(deliveries.get({ key: delivery.key }));
      // The SDK repeats a put that was lost on its way back: then the delivery that stands in the way is this one.
      return item && item.id !== delivery.id ? deliveryOf(item) : undefined;
    },
    async finish(key, { status, execution, reason }) {
      const set = present({ status, execution, reason });
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
      ? deliveries.query.ofWorkflow({ workflow: workflow ?? nobodys })
      : deliveries.query.ofClient({ client: client as string });
  return readSome(all.lt({ id: after }).where(having({ status, client })), { order: "desc", count: limit });
}

function ownersOf({ workflow, client }: Pick<Delivery, "workflow" | "client">) {
  return { workflow: workflow ?? nobodys, client: client ?? nobodys };
}

function deliveryOf({ workflow, client, trigger, execution, reason, ...item }: DeliveryItem): Delivery {
  const owner = (name: string) => (name === nobodys ? null : name);
  return {
    ...current(`delivery ${item.id}`, item),
    ...{ workflow: owner(workflow), client: owner(client) },
    ...{ trigger: trigger ?? null, execution: execution ?? null, reason: reason ?? null },
  };
}

const deliveryRecord = record(
  "delivery",
  {
    ...texts("key", "id", "client", "at", "from", "about", "dedupe"),
    ...optionalTexts("trigger", "execution", "reason"),
    type: { type: ["mail", "imap", "webhook", "schedule", "event"], required: true },
    /** `*`: nobody can say which one. No id of a workflow, no slug looks so. */
    workflow: requiredText,
    status: { type: ["accepted", "started", "refused", "failed"], required: true },
    /** The table's time to live, seconds since the epoch. */
    ...numbers("expiresAt"),
  },
  {
    record: place("DELIVERY#{key}", "DELIVERY"),
    /** Ids sort by time. */
    ofWorkflow: indexed("by-workflow", "DELIVERY#{workflow}", "{id}"),
    ofClient: indexed("by-client", "DELIVERY#{client}", "{id}"),
  },
);

type DeliveryItem = Stored<typeof deliveryRecord>;
