import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { type AwsServer, listen } from "../aws-http/listen.ts";
import { findOperation, parseRequest, type Request } from "../aws-http/request.ts";
import type { DiskSpace } from "../disk/disk-space.ts";
import { type Answer, answerText } from "./operations/answer.ts";
import { batchGetItem, batchWriteItem } from "./operations/batches.ts";
import { getItem, query, scan } from "./operations/reads.ts";
import { createTable, describeTable, listTables } from "./operations/tables.ts";
import { deleteItem, putItem, updateItem } from "./operations/writes.ts";
import { refuseUnserved } from "./request/common.ts";
import { Store } from "./store/store.ts";

/** The server accepts only this access key. */
export interface DynamoDbOptions extends AccessKey {
  /** The folder of the data; null: in memory. One process at a time may own the folder. */
  dataDir: string | null;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** The disk of the data folder. */
  disk?: DiskSpace;
  /**
   * Called for each accepted request; the returned word makes the request fail like DynamoDB under load. `throttle` and
   * `error` fail it before it has any effect. `lost` performs it, and sends an error instead of its response.
   */
  faults?: (request: DynamoDbRequest) => "throttle" | "error" | "lost" | undefined;
}

export interface DynamoDbRequest {
  /** The name in the API, such as `PutItem`. */
  operation: string;
  /** The JSON body. */
  text: string;
}

/**
 * Opens DynamoDB on one SQLite file. Acknowledged writes survive the death of the process, but perhaps not a loss of
 * power. Throws DynamoDbFolderError if another process has the file open.
 */
export async function openDynamoDb(options: DynamoDbOptions): Promise<AwsServer> {
  const { dataDir, port, disk, accessKeyId, secretAccessKey } = options;
  const store = new Store(dataDir, disk?.isReadOnly);
  const server = await listen({
    name: "DynamoDB",
    contentType: "application/x-amz-json-1.0",
    accessKeyId,
    secretAccessKey,
    disk,
    port,
    // DynamoDB's limit for BatchWriteItem, the largest of all requests.
    maxBytes: 16 * 1024 * 1024,
    refusedStatus: 400,
    breaksConnections: false,
    answer: (request, body) => performWithFaults(request, body, store, options),
  });
  return {
    ...server,
    async close() {
      await server.close();
      store.close();
    },
  };
}

function performWithFaults(request: RawRequest, text: string, store: Store, { faults }: DynamoDbOptions): string {
  const target = String(request.headers["x-amz-target"] ?? "");
  const operation = target.slice(target.indexOf(".") + 1);
  const fault = faults?.({ operation, text });
  if (fault === "throttle") {
    const message = "The level of configured provisioned throughput for the table was exceeded.";
    throw new AwsError("ProvisionedThroughputExceededException", message);
  }
  if (fault === "error") throw failure();
  const answer = perform(store, request, text);
  if (fault === "lost") throw failure();
  return answer;
}

function failure(): AwsError {
  return new AwsError("InternalServerError", "Internal server error", 500);
}

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
  const run = findOperation("DynamoDB", "DynamoDB_20120810", request, operations);
  const input = parseRequest(body);
  refuseUnserved(input);
  return answerText(run(store, input));
}
