import * as sdk from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

type Fields = Record<string, unknown>;

/**
 * Returns the methods that ElectroDB calls on a document client. They convert plain values to attributes for a client
 * of DynamoDB, and back. They replace `DynamoDBDocumentClient`, which takes several times longer, because it composes
 * its middleware again for each call.
 */
export function documentMethods(client: sdk.DynamoDBClient) {
  const method = (send: (input: never) => Promise<object>) => (parameters: object) => ({
    promise: async () => convertItems(await send(convertItems(parameters, toAttributes) as never), toValues),
  });
  return {
    get: method((input) => client.send(new sdk.GetItemCommand(input))),
    put: method((input) => client.send(new sdk.PutItemCommand(input))),
    update: method((input) => client.send(new sdk.UpdateItemCommand(input))),
    delete: method((input) => client.send(new sdk.DeleteItemCommand(input))),
    query: method((input) => client.send(new sdk.QueryCommand(input))),
    scan: method((input) => client.send(new sdk.ScanCommand(input))),
    batchGet: method((input) => client.send(new sdk.BatchGetItemCommand(input))),
    batchWrite: method((input) => client.send(new sdk.BatchWriteItemCommand(input))),
    createSet: unserved,
    transactGet: unserved,
    transactWrite: unserved,
  };
}

function unserved(): never {
  throw new TypeError("NOVA's records use no sets and no transactions - change `documentMethods` to allow them");
}

const toAttributes = (values: Fields) => marshall(values, { removeUndefinedValues: true });
const toValues = (attributes: Fields) => unmarshall(attributes as Record<string, sdk.AttributeValue>);

/**
 * Names of fields in requests and answers: `single` fields hold one item or a part of an item, `lists` hold several of
 * these, and `byTable` fields hold structures by name of the table.
 */
const single = new Set([
  "Item",
  "Key",
  "ExpressionAttributeValues",
  "ExclusiveStartKey",
  "Attributes",
  "LastEvaluatedKey",
]);
const lists = new Set(["Items", "Keys"]);
const byTable = new Set(["RequestItems", "Responses", "UnprocessedItems", "UnprocessedKeys"]);

/** Converts each item in a request or an answer, and leaves all other fields unchanged. */
function convertItems(fields: object, convert: (item: Fields) => Fields): Fields {
  const converted: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (single.has(name)) converted[name] = convert(value);
    else if (lists.has(name)) converted[name] = value.map(convert);
    else if (byTable.has(name)) converted[name] = convertTables(value, name === "Responses", convert);
    else if (name === "PutRequest" || name === "DeleteRequest") converted[name] = convertItems(value, convert);
    else converted[name] = value;
  }
  return converted;
}

/**
 * Converts the items of each table. With `areItems`, the field of a table is a list of items. Otherwise it has
 * structures that contain items.
 */
function convertTables(tables: Record<string, object>, areItems: boolean, convert: (item: Fields) => Fields): Fields {
  const inside = (value: object) => (areItems ? convert(value as Fields) : convertItems(value, convert));
  const entries = Object.entries(tables).map(([table, own]) => [
    table,
    Array.isArray(own) ? own.map(inside) : inside(own),
  ]);
  return Object.fromEntries(entries);
}
