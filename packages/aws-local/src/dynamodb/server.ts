import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { type AwsServer, listen } from "../aws-http/listen.ts";
import { findOperation, type Request } from "../aws-http/request.ts";
import type { DiskSpace } from "../disk/disk-space.ts";
import { type Answer, answerObject, answerText } from "./operations/answer.ts";
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
   * `error` fail it before it has any effect. `lost` lets the request take effect, and sends an error instead of its
   * response.
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
    read: "DynamoDB_20120810",
    perform: (operation, input) => performWithFaults(operation, input, store, options),
    storedJson: { textOf: answerText, objectOf: answerObject },
  });
  return {
    ...server,
    async close() {
      await server.close();
      store.close();
    },
  };
}

function performWithFaults(operation: string, input: Request, store: Store, { faults }: DynamoDbOptions): Answer {
  const fault = faults?.({ operation, text: JSON.stringify(input.fields) });
  if (fault === "throttle") {
    const message = "The level of configured provisioned throughput for the table was exceeded.";
    throw new AwsError("ProvisionedThroughputExceededException", message);
  }
  if (fault === "error") throw failure();
  const perform = findOperation("DynamoDB", operation, operations);
  refuseUnserved(input);
  const answer = perform(store, input);
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
