import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { type FormatState, type FormatSurvey, sumFormats } from "@nova/service";
import { reportOutage } from "./clients/outage.ts";
import { type Item, type ItemConnection, numberIn, textIn } from "./dynamodb/chain/items.ts";
import { FORMAT } from "./dynamodb/records.ts";

/** Counts the stored items by kind and format, with a scan that returns four attributes of each item. */
export function createFormatSurvey({ client, table }: ItemConnection): FormatSurvey {
  return {
    async page(after) {
      const scan = new ScanCommand({
        TableName: table,
        ProjectionExpression: "#pk, #sk, #entity, #format",
        ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk", "#entity": "__edb_e__", "#format": "format" },
        ...(after !== undefined && { ExclusiveStartKey: JSON.parse(after) }),
      });
      const { Items = [], LastEvaluatedKey: last } = await reportOutage("DynamoDB", () => client.send(scan));
      return { formats: sumFormats(Items.map(foundIn)), ...(last && { cursor: JSON.stringify(last) }) };
    },
  };
}

function foundIn(item: Item) {
  const [entity, format] = [kindOf(item), numberIn(item, "format") ?? null];
  return { entity, format, items: 1, state: stateOf(entity, format) };
}

function stateOf(entity: string, format: number | null): FormatState {
  if (!itemKinds.has(entity) || format === null) return "unknown";
  return format === FORMAT ? "current" : "newer";
}

/**
 * Returns the kind of an item. Items of ElectroDB and of the chain store their kind; for a counter, the kind follows
 * from its key.
 */
export function kindOf(item: Item): string {
  const entity = textIn(item, "__edb_e__");
  if (entity !== undefined) return entity;
  if (textIn(item, "pk")?.startsWith("R#")) return "rate";
  return textIn(item, "sk") === "SLOTS" ? "slots" : "";
}

/** Every kind of item in the table, as `kindOf` returns it. */
export const itemKinds: ReadonlySet<string> = new Set(
  (
    "attempt audit client credential daily-check delivery execution generation kept-event key label leaf link note pool " +
    "publication rate resume-link root session slots spending stamp stats step task ticket token trigger upload " +
    "version voter wake wake-shape workflow-state"
  ).split(" "),
);
