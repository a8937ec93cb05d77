import { hash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Access, type Refusal, refusals } from "../access/access.ts";
import type { AccessKey } from "../access/signature.ts";
import { httpServer, openServer, readBody } from "../aws-http/http-server.ts";
import type { Room } from "../disk/room.ts";
import { DynamoDbError } from "./errors.ts";
import { perform } from "./operations/route.ts";
import { Store } from "./store/store.ts";

/** DynamoDB: the largest request, which is one of BatchWriteItem. */
const maxBytes = 16 * 1024 * 1024;

/** The access key is the only one that is answered. */
export interface DynamoDbOptions extends AccessKey {
  /** Null: in memory. One process at a time may own the folder. */
  dataDir: string | null;
  /** 0: any free port. */
  port?: number;
  /** Of the data folder. */
  room?: Room;
  onRequest?: (request: DynamoDbRequest) => void;
  /**
   * Makes this request fail as DynamoDB does under load: `throttle` and `error` before it has any effect; `lost` is an
   * error that comes in the place of the answer, after the effect.
   */
  faults?: (request: DynamoDbRequest) => "throttle" | "error" | "lost" | undefined;
}

export interface DynamoDbServer {
  url: string;
  /** What a request to `url` is answered, for clients of the same process: their signatures are not computed again. */
  answer(request: RawRequest): RawAnswer;
  close(): Promise<void>;
}

/**
 * DynamoDB on one machine, in one SQLite file. What it acknowledged survives the death of the process, however it
 * dies, not the loss of power. Throws DynamoDbFolderError where another process has the file.
 */
export async function openDynamoDb(options: DynamoDbOptions): Promise<DynamoDbServer> {
  const store = new Store(options.dataDir, options.room?.isReadOnly);
  const access = new Access(options);
  const answer = (request: RawRequest) =>
    answerTo(request, access.knows(request) ? undefined : refusalOf("stranger"), store, options);
  const answerOver = async (message: IncomingMessage) => {
    const claim = access.claimOf(message);
    const body = typeof claim === "string" ? nothing : await readBody(message, maxBytes);
    const refused = body ? refusalOf(typeof claim === "string" ? claim : claim(hash("sha256", body))) : tooLarge();
    return answerTo({ headers: message.headers, body: body ?? nothing }, refused, store, options);
  };
  const server = httpServer(
    (request, response) => {
      answerOver(request).then(
        (answered) => send(response, answered),
        () => response.destroy(),
      );
    },
    { keepAliveTimeout: 120_000 },
  );
  const { url, close } = await openServer(server, { port: options.port }).catch((error) => {
    store.close();
    throw error;
  });
  return {
    url,
    answer,
    async close() {
      await close();
      store.close();
    },
  };
}

const nothing = Buffer.alloc(0);

function refusalOf(refused: Refusal | undefined): DynamoDbError | undefined {
  return refused && new DynamoDbError(...refusals[refused]);
}

function tooLarge(): DynamoDbError {
  return new DynamoDbError("RequestEntityTooLargeException", `A request may have ${maxBytes} bytes.`);
}

function answerTo(
  request: RawRequest,
  refused: DynamoDbError | undefined,
  store: Store,
  options: DynamoDbOptions,
): RawAnswer {
  try {
    if (refused) throw refused;
    return answerOf(200, performed(request, store, options));
  } catch (error) {
    const refusal = asDynamoDbError(error, options.room);
    return answerOf(refusal.status, JSON.stringify(refusal));
  }
}

function performed(request: RawRequest, store: Store, options: DynamoDbOptions): string {
  const received = requestOf(request);
  options.onRequest?.(received);
  const fault = options.faults?.(received);
  if (fault === "throttle") {
    const message = "The level of configured provisioned throughput for the table was exceeded.";
    throw new DynamoDbError("ProvisionedThroughputExceededException", message);
  }
  if (fault === "error") throw failure();
  const text = perform(store, received.operation, received.text);
  if (fault === "lost") throw failure();
  return text;
}

function failure(cause?: unknown): DynamoDbError {
  return new DynamoDbError("InternalServerError", "Internal server error", { cause });
}

function asDynamoDbError(error: unknown, room: Room | undefined): DynamoDbError {
  if (error instanceof DynamoDbError) return error;
  const refused = room?.refusal(error);
  if (refused) return new DynamoDbError(refused.name, refused.message, { cause: error });
  process.emitWarning(`the local DynamoDB failed: ${error instanceof Error ? error.stack : error}`);
  return failure(error);
}

/** One request as it arrived. */
export interface DynamoDbRequest {
  /** Such as `PutItem`. */
  operation: string;
  bodyBytes: number;
  /** The JSON body. */
  text: string;
}

/** What a request says before it is looked into; header names in lower case. */
export interface RawRequest {
  headers: { authorization?: string | undefined; "x-amz-target"?: string | string[] | undefined };
  body: Buffer;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

function requestOf({ headers, body }: RawRequest): DynamoDbRequest {
  const target = String(headers["x-amz-target"] ?? "");
  return { operation: target.slice(target.indexOf(".") + 1), bodyBytes: body.length, text: body.toString() };
}

function answerOf(status: number, text: string): RawAnswer {
  const body = Buffer.from(text);
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "content-length": String(body.length),
    "x-amzn-requestid": randomUUID(),
  };
  return { status, headers, body };
}

function send(response: ServerResponse, { status, headers, body }: RawAnswer): void {
  response.writeHead(status, headers);
  response.end(body);
}
