import { type DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { reaching } from "../clients/outage.ts";
import { type Item, textIn, textValue } from "../dynamodb/chain/attributes.ts";

export interface ArchiveTable {
  client: Pick<DynamoDBClient, "send">;
  table: string;
}

/** Without them nobody could tell what a client's runs ran. */
const ofEveryone = new Set(["version", "workflow-state", "publication"]);

/** Tells which items are a client's. Steps, tasks and tokens are their execution's, whose record is read once. */
export function itemsOfClient({ client, table }: ArchiveTable, slug: string): (item: Item) => Promise<boolean> {
  const owners = new Map<string, Promise<string | undefined>>();
  return async (item) => {
    const [entity, head] = [textIn(item, "__edb_e__") ?? "", textIn(item, "head")];
    if (head !== undefined) return (JSON.parse(head) as { client?: string }).client === slug;
    if (ofEveryone.has(entity) || textIn(item, "client") === slug) return true;
    if (textIn(item, "owner") === `client:${slug}`) return true;
    if (entity === "client") return textIn(item, "slug") === slug;
    const execution = textIn(item, "execution") ?? textIn(item, "partition")?.split("/")[0];
    if (execution === undefined) return false;
    const owner = owners.get(execution) ?? clientOfExecution({ client, table }, execution);
    owners.set(execution, owner);
    return (await owner) === slug;
  };
}

/** Undefined where no such execution is stored. */
export async function clientOfExecution({ client, table }: ArchiveTable, id: string): Promise<string | undefined> {
  const get = new GetItemCommand({ TableName: table, Key: { pk: textValue(`E#${id}`), sk: textValue("E") } });
  const { Item: record } = await reaching("DynamoDB", () => client.send(get));
  return record && textIn(record, "client");
}
