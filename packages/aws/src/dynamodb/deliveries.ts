// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates

import type { Delivery, DeliveryQuery, DeliveryStore } from "@nova/service";
import { Entity, type EntityItem } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText, text } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

const nobodys = "*";
/** Behind every id. */
const afterAll = "~";

/** What came in for triggers, for as long as its time to live. */
export function createDeliveryStore(connection: TableConnection): DeliveryStore {
  const entity = whenAsked(() => deliveryEntity(connection));
  return {
    async begin(delivery) {
      if (await reachingIf(store, () => entity.create(itemOf(delivery)).go(plainly))) return undefined;
      const { data } = await reaching(store, () => entity.get({ key: delivery.key }).go(consistently));
      // The SDK repeats a put that was lost on its way back: then the delivery that stands in the way is this one.
      return data && data.id !== delivery.id ? deliveryOf(data) : undefined;
    },
    async finish(key, { status, execution, reason }) {
      const set = { status, ...(execution !== null && { execution }), ...(reason !== null && { reason }) };
      const absent = (["execution", "reason"] as const).filter((name) => !(name in set));
      const patch = entity.patch({ key }).set(set).remove(absent);
      await reachingIf(store, () => patch.where((own, { ne }) => ne(own.status, "started")).go(plainly));
    },
    list: async (query) => (await newest(entity, query)).map(deliveryOf),
  };
}

async function newest(entity: DeliveryEntity, query: DeliveryQuery): Promise<DeliveryItem[]> {
  const { workflow, client, status, limit, after = afterAll } = query;
  const all =
    workflow !== undefined
      ? entity.query.ofWorkflow({ workflow: workflow ?? nobodys })
      : entity.query.ofClient({ client: client as string });
  const wanted = all.lt({ id: after }).where((attribute, { eq }) => {
    const conditions = [];
    if (status !== undefined) conditions.push(eq(attribute.status, status));
    if (workflow !== undefined && client !== undefined) conditions.push(eq(attribute.client, client));
    return conditions.join(" AND ");
  });
  const { data } = await reaching(store, () => wanted.go({ ...plainly, order: "desc", count: limit }));
  return data;
}

function itemOf({ workflow, client, trigger, execution, reason, ...delivery }: Delivery) {
  return {
    ...delivery,
    workflow: workflow ?? nobodys,
    client: client ?? nobodys,
    ...(trigger !== null && { trigger }),
    ...(execution !== null && { execution }),
    ...(reason !== null && { reason }),
  };
}

function deliveryOf({ format, workflow, client, trigger, execution, reason, ...item }: DeliveryItem): Delivery {
  checkFormat(`delivery ${item.id}`, format);
  return {
    ...item,
    format: FORMAT,
    workflow: workflow === nobodys ? null : workflow,
    client: client === nobodys ? null : client,
    trigger: trigger ?? null,
    execution: execution ?? null,
    reason: reason ?? null,
  };
}

/** Ids sort by time. */
const byTime = { field: "ordered", composite: ["id"], template: "${id}", casing: "none" } as const;

function deliveryEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "delivery", version: "1" },
      attributes: {
        key: requiredText,
        format: requiredNumber,
        id: requiredText,
        type: { type: ["mail", "imap", "webhook", "schedule", "event"] as const, required: true },
        /** `*`: nobody can say which one. No id of a workflow, no slug looks so. */
        workflow: requiredText,
        client: requiredText,
        trigger: text,
        at: requiredText,
        from: requiredText,
        about: requiredText,
        dedupe: requiredText,
        status: { type: ["accepted", "started", "refused", "failed"] as const, required: true },
        execution: text,
        reason: text,
        /** The table's time to live, seconds since the epoch. */
        expiresAt: requiredNumber,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["key"], template: "DELIVERY#${key}", casing: "none" },
          sk: { field: "sk", composite: [], template: "DELIVERY", casing: "none" },
        },
        ofWorkflow: {
          index: "by-workflow",
          pk: { field: "workflowKey", composite: ["workflow"], template: "DELIVERY#${workflow}", casing: "none" },
          sk: byTime,
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["client"], template: "DELIVERY#${client}", casing: "none" },
          sk: byTime,
        },
      },
    },
    { client, table },
  );
}

type DeliveryEntity = ReturnType<typeof deliveryEntity>;
type DeliveryItem = EntityItem<DeliveryEntity>;
