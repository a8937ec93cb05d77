import type { IndexDefinition } from "../request/definitions.ts";
import type { IndexDescription, Throughput } from "../store/table.ts";

/** The account is nobody's; the region is that of the caller's environment. */
export function arnOf(table: string): string {
  return `arn:aws:dynamodb:${process.env.AWS_REGION ?? "us-east-1"}:000000000000:table/${table}`;
}

export function describedIndex(table: string, index: IndexDefinition): IndexDescription {
  const { ProvisionedThroughput, ...rest } = index;
  return {
    ...rest,
    ProvisionedThroughput: withDecreases(ProvisionedThroughput),
    IndexArn: `${arnOf(table)}/index/${index.IndexName}`,
    IndexSizeBytes: 0,
    ItemCount: 0,
  };
}

export function withDecreases(throughput: Throughput = { ReadCapacityUnits: 0, WriteCapacityUnits: 0 }) {
  return { NumberOfDecreasesToday: 0, ...throughput };
}
