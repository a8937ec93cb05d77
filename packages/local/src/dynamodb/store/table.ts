import type { KeySchema } from "../values/key.ts";

interface Throughput {
  NumberOfDecreasesToday: number;
  ReadCapacityUnits: number;
  WriteCapacityUnits: number;
}

export interface KeySchemaElement {
  AttributeName: string;
  KeyType: "HASH" | "RANGE";
}

export interface IndexDescription {
  IndexName: string;
  KeySchema: KeySchemaElement[];
  Projection: { ProjectionType: "ALL" };
  ProvisionedThroughput: Throughput;
  IndexStatus?: "ACTIVE" | "CREATING" | "DELETING";
  IndexArn: string;
  IndexSizeBytes: number;
  ItemCount: number;
}

/** As DescribeTable answers it. ItemCount and TableSizeBytes stay 0: in the cloud they are hours old. */
export interface TableDescription {
  TableName: string;
  TableArn: string;
  TableId: string;
  TableStatus: "ACTIVE" | "CREATING" | "DELETING" | "UPDATING";
  CreationDateTime: number;
  AttributeDefinitions: { AttributeName: string; AttributeType: "S" | "N" | "B" }[];
  KeySchema: KeySchemaElement[];
  BillingModeSummary?: { BillingMode: "PAY_PER_REQUEST"; LastUpdateToPayPerRequestDateTime?: number };
  ProvisionedThroughput: Throughput;
  DeletionProtectionEnabled: boolean;
  GlobalSecondaryIndexes?: IndexDescription[];
  ItemCount: number;
  TableSizeBytes: number;
}

export interface Index {
  id: number;
  name: string;
  key: KeySchema;
}

export interface Table {
  id: number;
  name: string;
  key: KeySchema;
  indexes: Index[];
  description: TableDescription;
}

export function keySchemaOf(elements: KeySchemaElement[], { AttributeDefinitions }: TableDescription): KeySchema {
  const element = (keyType: "HASH" | "RANGE") => {
    const name = elements.find(({ KeyType }) => KeyType === keyType)?.AttributeName;
    const definition = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
    return definition && { name: definition.AttributeName, type: definition.AttributeType };
  };
  const [hash, sort] = [element("HASH"), element("RANGE")];
  if (!hash) throw new TypeError("a key schema has no defined hash key - it was not checked when it came in");
  return sort ? { hash, sort } : { hash };
}

/** The names of a start key: those of the table, and the index's own. */
export function positionNames(table: Table, index?: Index): string[] {
  const keys = [table.key, ...(index ? [index.key] : [])];
  return [...new Set(keys.flatMap(({ hash, sort }) => (sort ? [hash.name, sort.name] : [hash.name])))];
}
