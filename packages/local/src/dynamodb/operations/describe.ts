import type { IndexDefinition } from "../request/definitions.ts";
import type { IndexDescription } from "../store/table.ts";

export const noThroughput = { NumberOfDecreasesToday: 0, ReadCapacityUnits: 0, WriteCapacityUnits: 0 };

/** The account is nobody's; the region is that of the caller's environment. */
export function arnOf(table: string): string {
  return `arn:aws:dynamodb:${process.env.AWS_REGION ?? "us-east-1"}:000000000000:table/${table}`;
}

export function describedIndex(table: string, index: IndexDefinition): IndexDescription {
  return {
    ...index,
    ProvisionedThroughput: noThroughput,
    IndexArn: `${arnOf(table)}/index/${index.IndexName}`,
    IndexSizeBytes: 0,
    ItemCount: 0,
    IndexStatus: "ACTIVE",
  };
}
