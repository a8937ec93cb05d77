import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { type FormatState, type FormatSurvey, sumOfFormats } from "@nova/service";
import { reaching } from "./clients/outage.ts";
import { type Item, type ItemConnection, numberIn, textIn } from "./dynamodb/chain/items.ts";
import { FORMAT } from "./dynamodb/fields.ts";
import { triggerFormats } from "./dynamodb/triggers.ts";

/** What is stored in which format. A scan reads the items whole, and answers four attributes of each. */
export function createFormatSurvey({ client, table }: ItemConnection): FormatSurvey {
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

/** What an item is, by the mark that ElectroDB and the chain give theirs; counters, written by hand, by their keys. */
export function kindOf(item: Item): string {
  const entity = textIn(item, "__edb_e__");
  if (entity !== undefined) return entity;
  if (textIn(item, "pk")?.startsWith("R#")) return "rate";
  return textIn(item, "sk") === "SLOTS" ? "slots" : "";
}

/** Formats of one kind of item: what is written today, and all that is read. */
interface KnownFormats {
  writes: number;
  reads: readonly number[];
}

const first: KnownFormats = { writes: FORMAT, reads: [FORMAT] };

/** Every kind of item in the table, as `kindOf` names it. */
const kinds = [
  "attempt",
  "audit",
  "client",
  "credential",
  "delivery",
  "execution",
  "generation",
  "kept-event",
  "key",
  "label",
  "link",
  "note",
  "pool",
  "publication",
  "rate",
  "resume-link",
  "session",
  "slots",
  "spending",
  "stats",
  "step",
  "task",
  "ticket",
  "token",
  "upload",
  "version",
  "wake",
  "wake-shape",
  "workflow-state",
];

export const knownFormats: Readonly<Record<string, KnownFormats>> = {
  ...Object.fromEntries(kinds.map((kind) => [kind, first])),
  trigger: triggerFormats,
};
