// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates

import type { SpendingStore } from "@nova/service";
import { Entity } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

/** Sums of fractions would else grow digits that mean nothing. */
const billionth = 1e9;

/** What models have cost clients, node by node. */
export function createSpendingStore(connection: TableConnection): SpendingStore {
  const entity = whenAsked(() => spendingEntity(connection));
  return {
    async note(client, month, node, usd) {
      const put = entity
        .put({ client, month, ...node, format: FORMAT, usd })
        .where((item, { lt, notExists }) => `${notExists(item.usd)} OR ${lt(item.usd, usd)}`);
      await reachingIf(store, () => put.go(plainly));
    },
    async ofMonth(client, month) {
      let [sum, cursor] = [0, null as string | null];
      do {
        const query = entity.query.record({ client, month });
        const page = await reaching(store, () => query.go({ ...consistently, cursor }));
        for (const { format, usd } of page.data) {
          checkFormat(`the spending of client "${client}"`, format);
          sum += usd;
        }
        cursor = page.cursor;
      } while (cursor);
      return Math.round(sum * billionth) / billionth;
    },
  };
}

/** What one node has cost a client. */
function spendingEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "spending", version: "1" },
      attributes: {
        client: requiredText,
        /** `2026-11` */
        month: requiredText,
        execution: requiredText,
        scope: requiredText,
        seq: requiredNumber,
        format: requiredNumber,
        usd: requiredNumber,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["client", "month"], template: "M#${client}#${month}", casing: "none" },
          sk: {
            field: "sk",
            composite: ["execution", "scope", "seq"],
            template: "${execution}#${scope}#${seq}",
            casing: "none",
          },
        },
      },
    },
    { client, table },
  );
}
