// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { LiveTrigger, TriggerStore } from "@nova/service";
import type { Trigger } from "@nova/workflow";
import { CustomAttributeType, Entity } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

/** What is written today; format 1 is read, too. */
export const triggerFormats = { writes: 2, reads: [1, 2] } as const;

/** What starts runs from outside, by what comes in. */
export function createTriggerStore(connection: TableConnection): TriggerStore {
  const entity = whenAsked(() => triggerEntity(connection));
  return {
    put: (live) =>
      reachingIf(store, () =>
        entity
          .put({ ...live, format: triggerFormats.writes, trigger: JSON.stringify(live.trigger) })
          .where(
            ({ workflowId }, { eq, notExists }) => `${notExists(workflowId)} OR ${eq(workflowId, live.workflowId)}`,
          )
          .go(plainly),
      ),
    async get(key) {
      const { data } = await reaching(store, () => entity.get({ key }).go(consistently));
      if (!data) return undefined;
      checkFormat(`trigger "${key}"`, data.format, triggerFormats.reads);
      const { trigger } = data;
      const read = typeof trigger === "string" ? (JSON.parse(trigger) as Trigger) : trigger;
      return { ...data, trigger: read, format: FORMAT };
    },
    async pause({ key, workflowId }, pause) {
      const patch = pause ? entity.patch({ key }).set({ pause }) : entity.patch({ key }).remove(["pause"]);
      const own = patch.where((item, { eq }) => eq(item.workflowId, workflowId));
      await reachingIf(store, () => own.go(plainly));
    },
    async remove({ key, workflowId }) {
      const own = entity.delete({ key }).where((item, { eq }) => eq(item.workflowId, workflowId));
      await reachingIf(store, () => own.go(plainly));
    },
  };
}

function triggerEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "trigger", version: "1" },
      attributes: {
        key: requiredText,
        format: requiredNumber,
        workflowId: requiredText,
        pause: { type: CustomAttributeType<NonNullable<LiveTrigger["pause"]>>("any") },
        /** JSON text: DynamoDB's numbers are not JSON's. Of format 1 it was a map. */
        trigger: { type: CustomAttributeType<Trigger | string>("any"), required: true },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["key"], template: "TRIGGER#${key}", casing: "none" },
          sk: { field: "sk", composite: [], template: "TRIGGER", casing: "none" },
        },
      },
    },
    { client, table },
  );
}
