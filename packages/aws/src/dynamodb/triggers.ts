import type { Delivery, DeliveryQuery, DeliveryStore, LiveTrigger, TriggerStore } from "@nova/service";
import type { Trigger } from "@nova/workflow";
import {
  afterAll,
  findItem,
  hasValues,
  indexKeys,
  json,
  numbers,
  omitAbsent,
  optionalTexts,
  readItem,
  readSome,
  record,
  requiredText,
  requireFormat,
  type Stored,
  type TableConnection,
  tableKeys,
  texts,
  value,
  writeIf,
} from "./records.ts";

/** Live triggers by key: the mail address, path or name under which events arrive. */
export function createTriggerStore(connection: TableConnection): TriggerStore {
  const triggers = triggerRecord(connection);
  return {
    put(live) {
      const put = triggers.put(live);
      return writeIf(
        put.where(
          ({ workflowId }, { eq, notExists }) => `${notExists(workflowId)} OR ${eq(workflowId, live.workflowId)}`,
        ),
      );
    },
    get: (key) => findItem(triggers.get({ key }), (item) => requireFormat(`trigger "${key}"`, item)),
    async pause({ key, workflowId }, pause) {
      const patch = pause ? triggers.patch({ key }).set({ pause }) : triggers.patch({ key }).remove(["pause"]);
      await writeIf(patch.where(hasValues({ workflowId })));
    },
    async remove({ key, workflowId }) {
      await writeIf(triggers.delete({ key }).where(hasValues({ workflowId })));
    },
  };
}

const triggerRecord = record(
  "trigger",
  {
    ...texts("key", "workflowId"),
    pause: value<NonNullable<LiveTrigger["pause"]>>(),
    trigger: { ...json<Trigger>(), required: true } as const,
  },
  { record: tableKeys("TRIGGER#{key}", "TRIGGER") },
);

/** Stored when no workflow or client is known. It is not a valid workflow id or slug. */
const noOwner = "*";

/** Mails, webhook calls and events that arrived for triggers. */
export function createDeliveryStore(connection: TableConnection): DeliveryStore {
  const deliveries = deliveryRecord(connection);
  return {
    async begin(delivery) {
      if (await writeIf(deliveries.create(omitAbsent({ ...delivery, ...ownersOf(delivery) })))) return undefined;
      const item = await readItem(deliveries.get({ key: delivery.key }));
      // If the SDK repeats a put whose answer was lost, it finds the delivery that it has stored itself. That delivery
      // does not count as an earlier one.
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
