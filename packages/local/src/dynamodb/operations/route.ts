import { notServed } from "../../aws-http/request.ts";
import { DynamoDbError, malformed } from "../errors.ts";
import { refuseUnserved } from "../request/common.ts";
import { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import { type Answer, answerText } from "./answer.ts";
import { batchGetItem, batchWriteItem } from "./batches.ts";
import { getItem, query, scan } from "./reads.ts";
import { createTable, deleteTable, describeTable, listTables } from "./tables.ts";
import { deleteItem, putItem, updateItem } from "./writes.ts";

const operations: Record<string, (store: Store, input: Input) => Answer> = {
  BatchGetItem: batchGetItem,
  BatchWriteItem: batchWriteItem,
  CreateTable: createTable,
  DeleteItem: deleteItem,
  DeleteTable: deleteTable,
  DescribeTable: describeTable,
  GetItem: getItem,
  ListTables: listTables,
  PutItem: putItem,
  Query: query,
  Scan: scan,
  UpdateItem: updateItem,
};

/** Does what the request asks for and answers the JSON; throws DynamoDbError. */
export function perform(store: Store, operation: string, body: string): string {
  const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
  if (!run) {
    const sentence = notServed("DynamoDB", operation || "a request without an x-amz-target", Object.keys(operations));
    throw new DynamoDbError("UnknownOperationException", sentence);
  }
  const input = new Input(parse(body));
  refuseUnserved(input);
  return answerText(run(store, input));
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw malformed("The request body is not JSON");
  }
}
