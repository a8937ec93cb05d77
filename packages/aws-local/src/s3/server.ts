import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { httpServer, openServer } from "@nova/serve-local";
import { Access } from "../access/access.ts";
import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { DirectCalls } from "../aws-http/direct-calls.ts";
import type { AwsServer } from "../aws-http/listen.ts";
import type { DiskSpace } from "../disk/disk-space.ts";
import { checkAccess } from "./access.ts";
import { type OnCreated, parseAddress } from "./call.ts";
import { S3Error, sendError } from "./errors.ts";
import { chooseOperation } from "./operations/route.ts";
import { BodyFailed, performDirectly, servesDirectly } from "./perform.ts";
import { ObjectStore } from "./store/object-store.ts";

export interface S3Request {
  /** The name in the API, such as `PutObject`. */
  operation: string;
  bucket: string;
  key: string;
}

/** The server accepts only this access key. */
export interface S3Options extends AccessKey {
  /**
   * The folder of the data; null: a temporary folder that is removed on closing. One process at a time may own the
   * folder.
   */
  dataDir: string | null;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** The disk of the data folder. */
  disk?: DiskSpace;
  /** Receives `ObjectCreated:Put` notifications. */
  onCreated?: OnCreated;
  /**
   * Called for each accepted request. The returned word makes the request fail like S3 under load, before it has any
   * effect.
   */
  faults?: (request: S3Request) => "throttle" | "error" | undefined;
}

/**
 * The longest time in which a request may arrive: enough for a large object. Without a limit here, Node would also wait
 * for ever for the head of a request.
 */
const maxRequestMs = 60 * 60 * 1000;

/** Opens S3 with path-style addresses: `http://127.0.0.1:<port>/<bucket>/<key>`. */
export async function openS3(options: S3Options): Promise<AwsServer> {
  const dir = options.dataDir === null ? await mkdtemp(join(tmpdir(), "nova-s3-")) : join(options.dataDir, "s3");
  const store = await ObjectStore.open(dir, options.disk?.hasSpace);
  const access = new Access(options);
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, store, access, options).catch(() => response.destroy());
  };
  const timeouts = { keepAliveTimeout: 120_000, requestTimeout: maxRequestMs };
  const server = httpServer(listener, { highWaterMark: 256 * 1024, ...timeouts });
  // Without this listener Node itself sends `100 Continue`, and the client uploads a body that the server may refuse.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  const { url, close } = await openServer(server, { port: options.port });
  const { faults, disk, onCreated, accessKeyId } = options;
  const calls = new DirectCalls("S3");
  return {
    url,
    accessKeyId,
    serves: servesDirectly,
    perform: (operation, input: { Bucket?: string; Key?: string }) =>
      calls.run(async () => {
        try {
          failAs(faults?.({ operation, bucket: input.Bucket ?? "", key: input.Key ?? "" }));
          return await performDirectly({ store, onCreated }, operation, input);
        } catch (error) {
          throw error instanceof BodyFailed ? error.cause : asS3Error(error, disk);
        }
      }),
    async close() {
      await Promise.all([close(), calls.close()]);
      if (options.dataDir === null) await rm(dir, { recursive: true, force: true });
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  store: ObjectStore,
  access: Access,
  { onCreated, faults, disk }: S3Options,
): Promise<void> {
  response.setHeader("x-amz-request-id", randomUUID());
  allowPages(request, response);
  if (isPreflight(request)) return void response.writeHead(200).end();
  try {
    const call = { request, response, store, ...parseAddress(request.url ?? "/"), onCreated };
    checkAccess(request, call.query, access);
    const { name: operation, run } = chooseOperation(call);
    failAs(faults?.({ operation, bucket: call.bucket, key: call.key }));
    await run(call);
  } catch (error) {
    sendError(response, asS3Error(error, disk), request.url ?? "/");
  }
}

function failAs(fault: "throttle" | "error" | undefined): void {
  if (fault === "throttle") throw new S3Error("SlowDown", "Please reduce your request rate.");
  if (fault === "error") throw new S3Error("InternalError", "We encountered an internal error. Please try again.");
}

function asS3Error(error: unknown, disk: DiskSpace | undefined): AwsError {
  const refused = error instanceof AwsError ? error : disk?.refusal(error);
  if (refused) return refused;
  const reason = error instanceof Error ? error.message : String(error);
  return new S3Error("InternalError", `We encountered an internal error: ${reason}`, { cause: error });
}

const methods = "GET, PUT";

/** Sends CORS headers that allow pages of any origin: they upload and fetch blobs by presigned addresses. */
export function allowPages({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.origin === undefined) return;
  response.setHeader("access-control-allow-origin", "*");
  response.setHeader("access-control-allow-methods", methods);
  response.setHeader("vary", "Origin, Access-Control-Request-Headers, Access-Control-Request-Method");
  const asked = headers["access-control-request-headers"];
  if (asked !== undefined) response.setHeader("access-control-allow-headers", asked);
}

/**
 * Returns whether this is a CORS preflight: a browser asks for permission before its request. A preflight has no
 * signature.
 */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === "OPTIONS" && "origin" in headers && "access-control-request-method" in headers;
}
