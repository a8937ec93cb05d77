import * as sdk from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

type Fields = Record<string, unknown>;

/**
 * Returns the methods that ElectroDB calls on a document client. They convert plain values to DynamoDB's attributes for
 * the request, and attributes to plain values in the answer. They replace `DynamoDBDocumentClient`, which takes several
 * times longer because it composes its middleware again for each call.
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
    batchGet: unserved,
    batchWrite: unserved,
    createSet: unserved,
    transactGet: unserved,
    transactWrite: unserved,
  };
}

function unserved(): never {
  throw new TypeError("NOVA's records use no batches, sets and transactions - change `documentMethods` to allow them");
}

const toAttributes = (values: Fields) => marshall(values, { removeUndefinedValues: true });
const toValues = (attributes: Fields) => unmarshall(attributes as Record<string, sdk.AttributeValue>);

/** Names of the fields in requests and answers that hold one item, or a part of an item. */
const single = new Set([
  "Item",
  "Key",
  "ExpressionAttributeValues",
  "ExclusiveStartKey",
  "Attributes",
  "LastEvaluatedKey",
]);

/** Converts each item in a request or an answer, and leaves all other fields unchanged. */
function convertItems(fields: object, convert: (item: Fields) => Fields): Fields {
  const converted: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (single.has(name)) converted[name] = convert(value);
    else if (name === "Items") converted[name] = value.map(convert);
    else converted[name] = value;
  }
  return converted;
}
