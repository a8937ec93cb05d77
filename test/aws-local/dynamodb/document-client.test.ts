import { DynamoDBDocument, NumberValue } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { tableInput, useDatabase } from "./support/database.ts";

const database = useDatabase(tableInput("items", ["pk", "S"], ["sk", "N"]));

test("the local DynamoDB works with the document client of the AWS SDK", async () => {
  const documents = DynamoDBDocument.from(database.client, { unmarshallOptions: { wrapNumbers: true } });
  const exact = "12345678901234567890.5";
  const Item = {
    pk: "a",
    sk: 1,
    deep: { list: [null, true], numbers: { n: 0.1 } },
  };
  await documents.put({ TableName: "items", Item: { ...Item, exact: NumberValue.from(exact) } });
  const { Attributes } = await documents.update({
    TableName: "items",
    Key: { pk: "a", sk: 1 },
    UpdateExpression: "ADD deep.#numbers.n :more",
    ExpressionAttributeNames: { "#numbers": "numbers" },
    ExpressionAttributeValues: { ":more": 0.2 },
    ReturnValues: "ALL_NEW",
  });
  expect(Attributes).toMatchObject({ exact: { value: exact } });
  expect(Attributes?.deep.numbers.n.value).toBe("0.3");
});
