import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { FormatState, FormatSurvey, StoredFormat } from "@nova/service";
import { reaching } from "../clients/outage.ts";
import { type Item, numberIn } from "../dynamodb/chain/attributes.ts";
import { kindOf } from "./kind-of.ts";
import { knownFormats } from "./known-formats.ts";

interface SurveyedTable {
  client: Pick<DynamoDBClient, "send">;
  table: string;
}

/** What is stored in which format. A scan reads the items whole, and answers four attributes of each. */
export function createFormatSurvey({ client, table }: SurveyedTable): FormatSurvey {
  return {
    async stored() {
      const found = new Map<string, StoredFormat>();
      let after: Item | undefined;
      do {
        const scan = new ScanCommand({
          TableName: table,
          ProjectionExpression: "#pk, #sk, #entity, #format",
          ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk", "#entity": "__edb_e__", "#format": "format" },
          ...(after && { ExclusiveStartKey: after }),
        });
        const { Items = [], LastEvaluatedKey } = await reaching("DynamoDB", () => client.send(scan));
        for (const item of Items) count(found, kindOf(item), numberIn(item, "format") ?? null);
        after = LastEvaluatedKey;
      } while (after);
      return [...found.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    },
  };
}

function count(found: Map<string, StoredFormat>, entity: string, format: number | null): void {
  const key = nameOf({ entity, format });
  const row = found.get(key) ?? { entity, format, items: 0, state: stateOf(entity, format) };
  found.set(key, { ...row, items: row.items + 1 });
}

function nameOf({ entity, format }: Pick<StoredFormat, "entity" | "format">): string {
  return `${entity} ${format}`;
}

function stateOf(entity: string, format: number | null): FormatState {
  const known = knownFormats[entity];
  if (!known || format === null) return "unknown";
  if (format === known.writes) return "current";
  return known.reads.includes(format) ? "older" : "newer";
}
