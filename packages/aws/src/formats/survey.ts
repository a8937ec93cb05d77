import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { type FormatState, type FormatSurvey, sumOfFormats } from "@nova/service";
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
    async page(after) {
      const scan = new ScanCommand({
        TableName: table,
        ProjectionExpression: "#pk, #sk, #entity, #format",
        ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk", "#entity": "__edb_e__", "#format": "format" },
        ...(after !== undefined && { ExclusiveStartKey: JSON.parse(after) }),
      });
      const { Items = [], LastEvaluatedKey: last } = await reaching("DynamoDB", () => client.send(scan));
      return { formats: sumOfFormats(Items.map(foundIn)), ...(last && { cursor: JSON.stringify(last) }) };
    },
  };
}

function foundIn(item: Item) {
  const [entity, format] = [kindOf(item), numberIn(item, "format") ?? null];
  return { entity, format, items: 1, state: stateOf(entity, format) };
}

function stateOf(entity: string, format: number | null): FormatState {
  const known = knownFormats[entity];
  if (!known || format === null) return "unknown";
  if (format === known.writes) return "current";
  return known.reads.includes(format) ? "older" : "newer";
}
