import type { SpendingStore } from "@nova/service";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { spendingEntity } from "./spending-entity.ts";

const store = "DynamoDB";
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
