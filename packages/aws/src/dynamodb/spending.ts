import type { SpendingStore } from "@nova/service";
import { checkFormat, FORMAT, numbers, requiredText, texts } from "./fields.ts";
import { each, place, record, type TableConnection, writeIf } from "./records.ts";

/** Sums of fractions would else grow digits that mean nothing. */
const billionth = 1e9;

/** What models have cost clients, node by node. */
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
      for await (const { format, usd } of each(spending.query.record({ client, month }), { consistent: true })) {
        checkFormat(`the spending of client "${client}"`, format);
        sum += usd;
      }
      return Math.round(sum * billionth) / billionth;
    },
  };
}

/** What one node has cost a client. */
const spendingRecord = record(
  "spending",
  {
    ...texts("client", "execution", "scope"),
    ...numbers("seq", "usd"),
    /** `2026-11` */
    month: requiredText,
  },
  { record: place("M#{client}#{month}", "{execution}#{scope}#{seq}") },
);
