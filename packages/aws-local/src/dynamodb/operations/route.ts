import { operationOf, type Request, requestOf } from "../../aws-http/request.ts";
import { refuseUnserved } from "../request/common.ts";
import type { Store } from "../store/store.ts";
import { type Answer, answerText } from "./answer.ts";
import { batchGetItem, batchWriteItem } from "./batches.ts";
import { getItem, query, scan } from "./reads.ts";
import { createTable, describeTable, listTables } from "./tables.ts";
import { deleteItem, putItem, updateItem } from "./writes.ts";

const operations: Record<string, (store: Store, input: Request) => Answer> = {
  BatchGetItem: batchGetItem,
  BatchWriteItem: batchWriteItem,
  CreateTable: createTable,
  DeleteItem: deleteItem,
  DescribeTable: describeTable,
  GetItem: getItem,
  ListTables: listTables,
  PutItem: putItem,
  Query: query,
  Scan: scan,
  UpdateItem: updateItem,
};

/** The headers of a request, in lower case. */
export interface RawRequest {
  headers: NodeJS.Dict<string | string[]> & { authorization?: string | undefined };
}

/** Performs the operation of a request and returns the JSON text; throws AwsError. */
export function perform(store: Store, request: RawRequest, body: string): string {
  const run = operationOf("DynamoDB", "DynamoDB_20120810", request, operations);
  const input = requestOf(body);
  refuseUnserved(input);
  return answerText(run(store, input));
}
