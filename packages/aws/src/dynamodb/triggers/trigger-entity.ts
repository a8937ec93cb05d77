// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { LiveTrigger } from "@nova/service";
import type { Trigger } from "@nova/workflow";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const requiredText = { type: "string", required: true } as const;

export function triggerEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "trigger", version: "1" },
      attributes: {
        key: requiredText,
        format: { type: "number", required: true },
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

export type TriggerItem = EntityItem<ReturnType<typeof triggerEntity>>;
