import type { ReturnedCapacity } from "../request/common.ts";
import type { Index, Table } from "../store/table.ts";

/** Capacity units, by what used them. */
export interface Consumption {
  table: number;
  indexes: Record<string, number>;
}

/** DynamoDB: a write unit is 1 KB. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 1024));
}

/** DynamoDB: a read unit is 4 KB, and eventually consistent reads pay half. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  return Math.max(1, Math.ceil(bytes / 4096)) * (isConsistent ? 1 : 0.5);
}

export function readConsumption(units: number, index: Index | undefined): Consumption {
  return index ? { table: 0, indexes: { [index.name]: units } } : { table: units, indexes: {} };
}

/** The ConsumedCapacity of an answer, as far as it was asked for. */
export function consumedCapacity(returned: ReturnedCapacity, table: Table, { table: units, indexes }: Consumption) {
  if (returned !== "TOTAL" && returned !== "INDEXES") return undefined;
  const total = Object.values(indexes).reduce((sum, one) => sum + one, units);
  const consumed = { TableName: table.name, CapacityUnits: total };
  if (returned === "TOTAL") return consumed;
  const of = (kind: Index["kind"]) => {
    const used = table.indexes.filter((index) => index.kind === kind && index.name in indexes);
    const shares = used.map(({ name }) => [name, { CapacityUnits: indexes[name] }] as const);
    return shares.length > 0 ? Object.fromEntries(shares) : undefined;
  };
  const [global, local] = [of("GLOBAL"), of("LOCAL")];
  return {
    ...consumed,
    Table: { CapacityUnits: units },
    ...(global && { GlobalSecondaryIndexes: global }),
    ...(local && { LocalSecondaryIndexes: local }),
  };
}

/** One ConsumedCapacity per table, for the operations that touch several items. */
export class CapacitySum {
  readonly #tables = new Map<Table, Consumption>();

  add(table: Table, { table: units, indexes }: Consumption): void {
    const sum = this.#tables.get(table) ?? { table: 0, indexes: {} };
    this.#tables.set(table, sum);
    sum.table += units;
    for (const [name, used] of Object.entries(indexes)) sum.indexes[name] = (sum.indexes[name] ?? 0) + used;
  }

  total(returned: ReturnedCapacity) {
    if (returned !== "TOTAL" && returned !== "INDEXES") return undefined;
    return [...this.#tables].map(([table, sum]) => consumedCapacity(returned, table, sum));
  }
}
