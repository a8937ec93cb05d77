import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import dynalite from "dynalite";
import { isSignedBy } from "../access.ts";
import { answerLost, type DynamoDbRequest, readRequest, refuse, replay } from "./requests.ts";
import { prepareStore } from "./store.ts";

export interface DynamoDbOptions {
  /** Null: in memory. One process at a time may own the folder. */
  dataDir: string | null;
  /** The only access key that is answered. */
  accessKeyId: string;
  /** 0: any free port. */
  port?: number;
  onRequest?: (request: DynamoDbRequest) => void;
  /**
   * Makes this request fail as DynamoDB does under load: `throttle` and `error` before it has any effect; `lost` is an
   * error that comes in the place of the answer, after the effect.
   */
  faults?: (request: DynamoDbRequest) => "throttle" | "error" | "lost" | undefined;
}

export interface DynamoDbServer {
  url: string;
  close(): Promise<void>;
}

/**
 * DynamoDB on one machine: dynalite behind an access check. What it acknowledged survives the death of the process
 * (LevelDB hands every write to the operating system before it answers), not the loss of power.
 */
export async function openDynamoDb(options: DynamoDbOptions): Promise<DynamoDbServer> {
  const store = options.dataDir === null ? {} : { path: await prepareStore(options.dataDir) };
  const server = dynalite({ ...store, createTableMs: 0, updateTableMs: 0, deleteTableMs: 0 });
  putInFront(server, options);
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) };
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Dynalite's own server stays, because closing it closes the store; only what it listens with is wrapped. */
function putInFront(server: Server, options: DynamoDbOptions): void {
  const [dynaliteListener] = server.listeners("request") as Listener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    answer(request, response, options, dynaliteListener as Listener).catch(() => response.destroy());
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: DynamoDbOptions,
  next: Listener,
): Promise<void> {
  const received = await readRequest(request);
  if (!isSignedBy(request, options.accessKeyId)) {
    const type = "com.amazon.coral.service#UnrecognizedClientException";
    return refuse(response, 400, type, "The security token included in the request is invalid.");
  }
  options.onRequest?.(received);
  const fault = options.faults?.(received);
  if (fault === "throttle") {
    const type = "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException";
    return refuse(response, 400, type, "The level of configured provisioned throughput for the table was exceeded.");
  }
  if (fault === "error") return fail(response);
  next(replay(request, received.text), fault === "lost" ? answerLost(() => fail(response)) : response);
}

function fail(response: ServerResponse): void {
  refuse(response, 500, "com.amazon.coral.service#InternalServerError", "Internal server error");
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeIdleConnections();
  });
}
