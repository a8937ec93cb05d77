import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Access, type Refusal } from "../access/access.ts";
import type { AccessKey } from "../access/signature.ts";
import { httpServer } from "../aws-http/http-server.ts";
import type { Room } from "../disk/room.ts";
import { announcedBytes, header } from "./body/receive.ts";
import { addressOf, type OnCreated } from "./call.ts";
import { S3Error, type S3ErrorCode, sendError } from "./errors.ts";
import { type OperationName, operationOf, runOperation } from "./operations/route.ts";
import { checkPresigned, isPresigned, mismatch } from "./presigned.ts";
import { MultipartUploads } from "./store/multipart-uploads.ts";
import { ObjectStore } from "./store/object-store.ts";

export interface S3Request {
  operation: OperationName;
  bucket: string;
  key: string;
  /** As the request announces them, without framing. */
  bodyBytes: number;
}

/** The access key is the only one that is answered. */
export interface S3Options extends AccessKey {
  /** Null: a folder that goes away when the server closes. One process at a time may own the folder. */
  dataDir: string | null;
  /** 0: any free port. */
  port?: number;
  /** Of the data folder. */
  room?: Room;
  onRequest?: (request: S3Request) => void;
  /** As notifications of a bucket: `ObjectCreated:Put`. */
  onCreated?: OnCreated;
  /** Makes this request fail as S3 does under load, before it has any effect. */
  faults?: (request: S3Request) => "throttle" | "error" | undefined;
}

export interface S3Server {
  url: string;
  close(): Promise<void>;
}

/** For a large object to arrive. Without a limit there would be none for the head of a request, either. */
const longestRequestMs = 60 * 60 * 1000;

/** S3 on one machine, with path-style addresses: `http://127.0.0.1:<port>/<bucket>/<key>`. */
export async function openS3(options: S3Options): Promise<S3Server> {
  const dir = options.dataDir === null ? await mkdtemp(join(tmpdir(), "nova-s3-")) : join(options.dataDir, "s3");
  const store = await ObjectStore.open(dir, options.room?.isThere);
  const uploads = new MultipartUploads(store);
  const access = new Access(options);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, { store, uploads, access, options }).catch(() => response.destroy());
  };
  const timeouts = { keepAliveTimeout: 120_000, requestTimeout: longestRequestMs };
  const server = httpServer(listener, { highWaterMark: 256 * 1024, ...timeouts });
  // Otherwise Node asks for the body by itself, also where the answer is known without it.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      await close(server);
      if (options.dataDir === null) await rm(dir, { recursive: true, force: true });
    },
  };
}

interface Context {
  store: ObjectStore;
  uploads: MultipartUploads;
  access: Access;
  options: S3Options;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  response.setHeader("x-amz-request-id", randomUUID());
  try {
    const { onCreated } = context.options;
    const call = { request, response, ...context, ...addressOf(request.url ?? "/"), onCreated };
    checkAccess(request, call.query, context);
    const operation = operationOf(call);
    report(context.options, { operation, bucket: call.bucket, key: call.key, bodyBytes: announcedBytes(request) ?? 0 });
    await runOperation(operation, call);
  } catch (error) {
    sendError(response, asS3Error(error, context.options.room), request.url ?? "/");
  }
}

function checkAccess(request: IncomingMessage, query: URLSearchParams, { access, options }: Context): void {
  if (isPresigned(query)) {
    checkPresigned(request, query, options.accessKeyId, access.signatures);
    return;
  }
  const payload = header(request, "x-amz-content-sha256");
  const refused = access.refusalOf(request, payload);
  if (refused) throw new S3Error(...refusals[refused]);
  if (payloads.test(payload)) return;
  throw new S3Error("InvalidArgument", "x-amz-content-sha256 must be a SHA-256, UNSIGNED-PAYLOAD or STREAMING-...");
}

const payloads = /^([0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-[A-Z0-9-]+)$/;

const refusals: Record<Refusal, readonly [S3ErrorCode, message: string]> = {
  unsigned: ["AccessDenied", "Access Denied"],
  stranger: ["InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."],
  malformed: ["AuthorizationHeaderMalformed", "The authorization header that you provided is not valid."],
  partial: ["AccessDenied", "There were headers present in the request which were not signed"],
  skewed: ["RequestTimeTooSkewed", "The difference between the request time and the current time is too large."],
  forged: ["SignatureDoesNotMatch", mismatch],
};

function report({ onRequest, faults }: S3Options, request: S3Request): void {
  onRequest?.(request);
  const fault = faults?.(request);
  if (fault === "throttle") throw new S3Error("SlowDown", "Please reduce your request rate.");
  if (fault === "error") throw new S3Error("InternalError", "We encountered an internal error. Please try again.");
}

function asS3Error(error: unknown, room: Room | undefined): S3Error {
  if (error instanceof S3Error) return error;
  const refused = room?.refusal(error);
  if (refused) return new S3Error("InsufficientStorage", refused.message, { cause: error });
  const reason = error instanceof Error ? error.message : String(error);
  return new S3Error("InternalError", `We encountered an internal error: ${reason}`, { cause: error });
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeIdleConnections();
  });
}
