import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { offerService } from "@nova/aws";
import type { AwsServer } from "@nova/aws-local";
import type { E2bServer } from "@nova/e2b-local";
import { LRUCache } from "lru-cache";
import type { Endpoints } from "./owner-file.ts";

type AwsService = "dynamodb" | "s3" | "states";

/** The cost of one execution so far, as `nova run --json` prints it. */
export interface Counters {
  aws_calls: Record<AwsService, number>;
  sandbox_calls: number;
  /** The number of bytes in the bodies that S3 and DynamoDB stored. */
  bytes_stored: number;
}

/** The number of executions whose counters are kept. The oldest are dropped first. */
const remembered = 10_000;

const executionId = /exec_[0-9A-HJKMNP-TV-Z]{26}/g;

/** Counts requests by the execution ids in them, so that no caller has to say for which execution it works. */
export class CounterBook {
  readonly #byExecution = new LRUCache<string, Counters>({ max: remembered });

  of(execution: string): Counters {
    const zero = { aws_calls: { dynamodb: 0, s3: 0, states: 0 }, sandbox_calls: 0, bytes_stored: 0 };
    return this.#byExecution.get(execution) ?? zero;
  }

  /** Counts a request. `text` has every part of it that may contain an execution id: path, headers and JSON. */
  countAws(service: AwsService, text: string, bytesStored: number): void {
    for (const counters of this.#named(text)) {
      counters.aws_calls[service] += 1;
      counters.bytes_stored += bytesStored;
    }
  }

  countSandbox(text: string): void {
    for (const counters of this.#named(text)) counters.sandbox_calls += 1;
  }

  #named(text: string): Counters[] {
    if (!text.includes("exec_")) return [];
    return [...new Set(text.match(executionId))].map((execution) => {
      const counters = this.of(execution);
      this.#byExecution.set(execution, counters);
      return counters;
    });
  }
}

export type RequestCounter = ReturnType<typeof requestCounter>;

/**
 * Returns the functions that count requests to these endpoints of the owner: requests over HTTP, and direct calls of
 * this process. Each function is called after a request has been answered.
 */
export function requestCounter(
  book: CounterBook,
  endpoints: Pick<Endpoints, AwsService | "e2bApi">,
  e2b: Pick<E2bServer, "sandboxes">,
) {
  const services = new Map<number, AwsService | "e2bApi">();
  for (const service of ["dynamodb", "s3", "states", "e2bApi"] as const) {
    services.set(Number(new URL(endpoints[service]).port), service);
  }
  return {
    onAnswered(answered: AnsweredRequest) {
      const service = services.get(answered.port);
      if (service === "e2bApi") book.countSandbox(sandboxText(answered, e2b));
      else if (service) book.countAws(service, answered.request.url + answered.json, storedBytes(service, answered));
    },
    onCalled({ port, operation, input, isStored }: OwnCall) {
      const service = services.get(port);
      if (!service || service === "e2bApi") return;
      if (service === "s3") {
        const { Key, Prefix, ContentLength = 0, Delete } = input as S3Input;
        const keys = [Key, Prefix, ...(Delete?.Objects ?? []).map((object) => object.Key)];
        book.countAws(service, keys.join(" "), isStored && operation === "PutObject" ? ContentLength : 0);
        return;
      }
      const json = JSON.stringify(input);
      book.countAws(service, json, isStored && writes.test(operation) ? Buffer.byteLength(json) : 0);
    },
    /** Called for each cell, which is code that runs in a sandbox. */
    onCell: ({ headers, body }: CellRequest) => book.countSandbox(body + metadataText(e2b, headers["E2b-Sandbox-Id"])),
    /** Called for each request to the control plane, the API that creates and ends sandboxes. */
    onControl: ({ url, json }: Pick<ControlCall, "url" | "json">) =>
      book.countSandbox(sandboxText({ request: { url, headers: {} }, json }, e2b)),
  };
}

/** The fields of inputs of S3 that the counters read. */
interface S3Input {
  Key?: string;
  Prefix?: string;
  ContentLength?: number;
  Delete?: { Objects?: { Key?: string }[] };
}

type CellRequest = Parameters<E2bServer["execute"]>[0];
type ControlCall = Parameters<E2bServer["callControlPlane"]>[0];

/** DynamoDB's operations that store their input. */
const writes = /^(PutItem|UpdateItem|BatchWriteItem)$/;

/**
 * Returns the text of a request to a sandbox, together with the metadata of the sandbox. The request names only the
 * sandbox, but the metadata contains the id of the execution.
 */
function sandboxText(
  { request, json }: Pick<AnsweredRequest, "json"> & { request: Pick<IncomingMessage, "url" | "headers"> },
  e2b: Pick<E2bServer, "sandboxes">,
): string {
  const [, inPath] = /^\/(?:v2\/)?sandboxes\/(\w+)/.exec(request.url ?? "") ?? [];
  const id = request.headers["e2b-sandbox-id"] ?? inPath;
  return `${request.url} ${json} ${metadataText(e2b, typeof id === "string" ? id : undefined)}`;
}

function metadataText(e2b: Pick<E2bServer, "sandboxes">, id: string | undefined): string {
  const sandbox = id && e2b.sandboxes().find((one) => one.id === id);
  return sandbox ? JSON.stringify(sandbox.metadata) : "";
}

function storedBytes(service: AwsService, { request, status, json }: AnsweredRequest): number {
  if (status >= 300) return 0;
  const { headers } = request;
  if (service === "dynamodb") {
    const [, operation = ""] = String(headers["x-amz-target"]).split(".");
    return writes.test(operation) ? Buffer.byteLength(json) : 0;
  }
  if (service !== "s3" || request.method !== "PUT") return 0;
  return Number(headers["x-amz-decoded-content-length"] ?? headers["content-length"] ?? 0);
}

export interface AnsweredRequest {
  port: number;
  request: Pick<IncomingMessage, "method" | "url" | "headers">;
  status: number;
  /** The body if it is JSON, because JSON may contain an execution id. For any other body, only its size is counted. */
  json: string;
}

interface ServerMessage {
  request: IncomingMessage;
  response: ServerResponse;
  server: Server;
}

/**
 * Observes every request to the servers of this process through Node's diagnostics channels, so that the endpoints need
 * no code for it. Returns a function that stops the observation.
 */
export function tapRequests(onAnswered: (answered: AnsweredRequest) => void): () => void {
  const bodies = new WeakMap<IncomingMessage, Buffer[]>();
  const onStart = (message: unknown) => {
    const { request } = message as ServerMessage;
    if (isJson(request)) bodies.set(request, copyBody(request));
  };
  const onFinish = (message: unknown) => {
    const { request, response, server } = message as ServerMessage;
    const { port } = (server.address() ?? { port: 0 }) as AddressInfo;
    const json = Buffer.concat(bodies.get(request) ?? []).toString();
    onAnswered({ port, request, status: response.statusCode, json });
  };
  subscribe("http.server.request.start", onStart);
  subscribe("http.server.response.finish", onFinish);
  return () => {
    unsubscribe("http.server.request.start", onStart);
    unsubscribe("http.server.response.finish", onFinish);
  };
}

function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/(x-amz-json|json)/.test(headers["content-type"] ?? "");
}

/**
 * Collects the chunks of the body when the server reads them. It does not read the stream itself, because a second
 * reader would take data from the server.
 */
function copyBody(request: IncomingMessage): Buffer[] {
  const chunks: Buffer[] = [];
  const push = request.push;
  request.push = (chunk, encoding) => {
    if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    return push.call(request, chunk, encoding);
  };
  return chunks;
}

/** A call of this process to one of its own services. */
export interface OwnCall {
  /** The port at which other processes reach the service. */
  port: number;
  operation: string;
  input: object;
  /** Whether the operation succeeded. */
  isStored: boolean;
}

/**
 * Lets clients of this process call its own services as functions. `onCalled` receives each call. Returns a function
 * that makes the clients use sockets again.
 */
export function serveOwnCalls(
  services: readonly Pick<AwsServer, "url" | "accessKeyId" | "perform" | "serves">[],
  onCalled: (called: OwnCall) => void,
): () => void {
  const stops = services.map(({ url, accessKeyId, perform, serves }) => {
    const port = Number(new URL(url).port);
    return offerService(url, {
      accessKeyId,
      serves,
      async perform(operation, input) {
        let isStored = false;
        try {
          const output = await perform(operation, input);
          isStored = true;
          return output;
        } finally {
          onCalled({ port, operation, input, isStored });
        }
      },
    });
  });
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Serves requests to the sandboxes of this process without HTTP. E2B's SDK sends the code of a cell with the global
 * `fetch`. The SDK also uses `fetch` for requests to the control plane, unless it can import `undici`, which
 * `bin/nova.js` prevents. This function replaces `fetch` for the addresses of the sandboxes and of the control plane.
 * It returns a function that restores `fetch`. If `NOVA_WIRE` is 1, it leaves `fetch` unchanged.
 */
export function serveOwnSandboxes(
  { apiUrl, sandboxUrl, execute, callControlPlane }: OwnSandboxes,
  { onCell, onControl }: Pick<RequestCounter, "onCell" | "onControl">,
): () => void {
  const { fetch: fetchOverHttp } = globalThis;
  if (process.env.NOVA_WIRE === "1") return () => undefined;
  let isServing = true;
  const own: typeof fetch = async (input, init) => {
    // Other code may have wrapped this function in its own `fetch`, and may still call it after the local cloud has
    // restored `fetch`.
    if (!isServing) return fetchOverHttp(input, init);
    if (input === `${sandboxUrl}/execute`) {
      const cell = init as CellRequest;
      const response = await execute(cell);
      onCell(cell);
      return response;
    }
    // The SDK passes requests to the control plane as a `Request`. A request to a sandbox has the id of the sandbox in
    // a header.
    const isControl = input instanceof Request && input.url.startsWith(`${apiUrl}/`);
    if (!isControl || input.headers.has("e2b-sandbox-id")) return fetchOverHttp(input, init);
    const { method, signal } = input;
    const [url, json] = [input.url.slice(apiUrl.length), await input.text()];
    const response = await callControlPlane({ method, url, apiKey: input.headers.get("x-api-key"), json, signal });
    onControl({ url, json });
    return response;
  };
  globalThis.fetch = own;
  return () => {
    isServing = false;
    if (globalThis.fetch === own) globalThis.fetch = fetchOverHttp;
  };
}

type OwnSandboxes = Pick<E2bServer, "apiUrl" | "sandboxUrl" | "execute" | "callControlPlane">;
