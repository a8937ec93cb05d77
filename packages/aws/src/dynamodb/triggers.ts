import type { Delivery, DeliveryQuery, DeliveryStore, LiveTrigger, TriggerStore } from "@nova/service";
import type { Trigger } from "@nova/workflow";
import * as db from "./records.ts";

/**
 * Creates the store of live triggers by their keys. A key is a mail address, the id of a webhook, or the ids of
 * workflow and trigger.
 */
export function createTriggerStore(connection: db.TableConnection): TriggerStore {
  const triggers = triggerRecord(connection);
  return {
    put(live) {
      const put = triggers.put(live);
      return db.writeIf(
        put.where(
          ({ workflowId }, { eq, notExists }) => `${notExists(workflowId)} OR ${eq(workflowId, live.workflowId)}`,
        ),
      );
    },
    get: (key) => db.findItem(triggers.get({ key }), (item) => db.requireFormat(`trigger "${key}"`, item)),
    async pause({ key, workflowId }, pause) {
      const patch = pause ? triggers.patch({ key }).set({ pause }) : triggers.patch({ key }).remove(["pause"]);
      await db.writeIf(patch.where(db.hasValues({ workflowId })));
    },
    async remove({ key, workflowId }) {
      await db.writeIf(triggers.delete({ key }).where(db.hasValues({ workflowId })));
    },
  };
}

const triggerRecord = db.record(
  "trigger",
  {
    ...db.texts("key", "workflowId"),
    pause: db.value<NonNullable<LiveTrigger["pause"]>>(),
    trigger: { ...db.json<Trigger>(), required: true } as const,
  },
  { record: db.tableKeys("TRIGGER#{key}", "TRIGGER") },
);

/** Stands for an unknown workflow or client of a delivery. It is not a valid workflow id or slug. */
const noOwner = "*";

/** Creates the store of deliveries: mails, webhook calls, events and times that reached triggers. */
export function createDeliveryStore(connection: db.TableConnection): DeliveryStore {
  const deliveries = deliveryRecord(connection);
  return {
    async begin(delivery) {
      if (await db.writeIf(deliveries.create(db.omitAbsent({ ...delivery, ...ownersOf(delivery) })))) return undefined;
      const item = await db.readItem(deliveries.get({ key: delivery.key }));
      // If the answer to a put is lost, the SDK repeats the put, which then fails because the first put has stored the
      // delivery. This delivery does not count as an earlier delivery.
      return item && item.id !== delivery.id ? deliveryOf(item) : undefined;
    },
    async finish(key, { status, execution, reason }) {
      const set = db.omitAbsent({ status, execution, reason });
      const absent = (["execution", "reason"] as const).filter((name) => !(name in set));
      const patch = deliveries.patch({ key }).set(set).remove(absent);
      await db.writeIf(patch.where((own, { ne }) => ne(own.status, "started")));
    },
    list: async (query) => (await newest(deliveries, query)).map(deliveryOf),
  };
}

function newest(deliveries: ReturnType<typeof deliveryRecord>, query: DeliveryQuery): Promise<DeliveryItem[]> {
  const { workflow, client, status, limit, after = db.afterAll } = query;
  const all =
    workflow !== undefined
      ? deliveries.query.ofWorkflow({ workflow: workflow ?? noOwner })
      : deliveries.query.ofClient({ client: client as string });
  return db.readSome(all.lt({ id: after }).where(db.hasValues({ status, client })), { order: "desc", count: limit });
}

function ownersOf({ workflow, client }: Pick<Delivery, "workflow" | "client">) {
  return { workflow: workflow ?? noOwner, client: client ?? noOwner };
}

function deliveryOf({ workflow, client, trigger, execution, reason, ...item }: DeliveryItem): Delivery {
  const ownerOrNull = (name: string) => (name === noOwner ? null : name);
  return {
    ...db.requireFormat(`delivery ${item.id}`, item),
    workflow: ownerOrNull(workflow),
    client: ownerOrNull(client),
    trigger: trigger ?? null,
    execution: execution ?? null,
    reason: reason ?? null,
  };
}

const deliveryRecord = db.record(
  "delivery",
  {
    ...db.texts("key", "id", "client", "at", "from", "about", "dedupe"),
    ...db.optionalTexts("trigger", "execution", "reason"),
    type: { type: ["mail", "imap", "webhook", "schedule", "event"], required: true },
    workflow: db.requiredText,
    status: { type: ["accepted", "started", "refused", "failed"], required: true },
    ...db.numbers("expiresAt"),
  },
  {
    record: db.tableKeys("DELIVERY#{key}", "DELIVERY"),
    ofWorkflow: db.indexKeys("by-workflow", "DELIVERY#{workflow}", "{id}"),
    ofClient: db.indexKeys("by-client", "DELIVERY#{client}", "{id}"),
  },
);

type DeliveryItem = db.Stored<typeof deliveryRecord>;
