// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { StoredEntry } from "@nova/engine";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

/** Last part of a link's sort key: a turn lies directly before the entry it is the right to. */
export const TURN = "0";
export const ENTRY = "1";

const text = { type: "string" } as const;
const requiredText = { type: "string", required: true } as const;

/** One item is the turn or the entry of a link; both are one entity so that one query reads across them. */
export function linkEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "link", version: "1" },
      attributes: {
        partition: requiredText,
        scope: requiredText,
        seq: { type: "number", required: true, padding: { length: 10, char: "0" } },
        kind: { type: [TURN, ENTRY] as const, required: true },
        format: { type: "number", required: true },
        node: text,
        state: { type: ["held", "failing", "closed"] as const },
        sandbox: text,
        attempt: { type: "number" },
        since: text,
        head: text,
        hash: text,
        contents: { type: CustomAttributeType<StoredEntry["contents"]>("any") },
        signature: text,
      },
      indexes: {
        chain: {
          pk: { field: "pk", composite: ["partition"], template: "C#${partition}", casing: "none" },
          sk: {
            field: "sk",
            composite: ["scope", "seq", "kind"],
            template: "L#${scope}#${seq}#${kind}",
            casing: "none",
          },
        },
      },
    },
    { client, table },
  );
}

export type LinkEntity = ReturnType<typeof linkEntity>;
export type LinkItem = EntityItem<LinkEntity>;
