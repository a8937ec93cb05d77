import type { SpendingStore } from "@nova/service";
import { checkFormat, FORMAT, numbers, requiredText, texts } from "./fields.ts";
import { readEach, record, type TableConnection, tableKeys, writeIf } from "./records.ts";

/** Rounds sums to a billionth, because adding fractions produces meaningless digits. */
const billionth = 1e9;

/** Model costs per client, month and node. */
export function createSpendingStore(connection: TableConnection): SpendingStore {
  const spending = spendingRecord(connection);
  return {
    async note(client, month, node, usd) {
      const put = spending
        .put({ client, month, ...node, format: FORMAT, usd })
        .where((item, { lt, notExists }) => `${notExists(item.usd)} OR ${lt(item.usd, usd)}`);
      await writeIf(put);
    },
    async ofMonth(client, month) {
      let sum = 0;
      for await (const { format, usd } of readEach(spending.query.record({ client, month }), { consistent: true })) {
        checkFormat(`the spending of client "${client}"`, format);
        sum += usd;
      }
      return Math.round(sum * billionth) / billionth;
    },
  };
}

const spendingRecord = record(
  "spending",
  {
    ...texts("client", "execution", "scope"),
    ...numbers("seq", "usd"),
    /** `2026-11` */
    month: requiredText,
  },
  { record: tableKeys("M#{client}#{month}", "{execution}#{scope}#{seq}") },
);
