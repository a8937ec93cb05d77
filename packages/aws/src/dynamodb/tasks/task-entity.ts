// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredNumber, requiredText, text } from "../fields.ts";

const requiredTexts = { type: "list", items: { type: "string" }, required: true } as const;

/** Keys of an index need not be unique. */
const byTime = {
  field: "ordered",
  composite: ["createdAt", "execution"],
  template: "${createdAt}#${execution}",
  casing: "none",
} as const;

export function taskEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "task", version: "1" },
      attributes: {
        execution: requiredText,
        id: requiredText,
        format: requiredNumber,
        client: text,
        workflowId: requiredText,
        version: requiredNumber,
        scope: requiredText,
        seq: requiredNumber,
        node: requiredText,
        kind: { type: ["approval", "event"] as const, required: true },
        message: requiredText,
        /** JSON text, as the forms and the pattern: a schema may hold numbers that DynamoDB has not. */
        form: text,
        forms: text,
        pattern: text,
        /** JSON text, too. */
        wake: text,
        link: text,
        choices: requiredTexts,
        to: requiredTexts,
        status: { type: ["open", "answered", "sent", "expired"] as const, required: true },
        createdAt: requiredText,
        expiresAt: requiredText,
        answeredAt: text,
        /** JSON text. */
        mail: text,
        /** There while somebody may have something to do with it: the key of a sparse index. */
        open: { type: ["tasks"] as const },
        /** `T#<client>` of an approval, `TE#<client>` of a wait for an event; likewise. */
        clientKey: text,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["execution"], template: "T#${execution}", casing: "none" },
          sk: { field: "sk", composite: ["id"], template: "T#${id}", casing: "none" },
        },
        byId: {
          index: "by-workflow",
          pk: { field: "workflowKey", composite: ["id"], template: "T#${id}", casing: "none" },
          sk: byTime,
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["clientKey"], casing: "none" },
          sk: byTime,
        },
        pending: { index: "open", pk: { field: "open", composite: ["open"], casing: "none" }, sk: byTime },
      },
    },
    { client, table },
  );
}

export type TaskEntity = ReturnType<typeof taskEntity>;
export type TaskItem = EntityItem<TaskEntity>;
