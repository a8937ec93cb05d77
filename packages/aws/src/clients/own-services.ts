import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import type { S3Client } from "@aws-sdk/client-s3";
import type { SchedulerClient } from "@aws-sdk/client-scheduler";
import type { SFNClient } from "@aws-sdk/client-sfn";

/** A service of AWS that runs in this process. */
export interface OwnService {
  /** Only clients with this key use the service. */
  accessKeyId: string;
  /**
   * Performs an operation, such as `PutItem`. `input` and the output are objects of the SDK. Rejects with the name,
   * message and HTTP status of the service's error.
   */
  perform(operation: string, input: object): Promise<object>;
  /** Whether the service performs the operation with this input. Absent: it performs every operation. */
  serves?: ((operation: string, input: object) => boolean) | undefined;
}

/** A call that an `OwnService` receives, as the diagnostics channel `nova.service.called` publishes it. */
export interface OwnCall {
  client: string;
  operation: string;
  input: object;
}

const called = channel("nova.service.called");

const offers = new Map<string, OwnService>();

/**
 * Lets clients of this process call a service as a function, instead of sending requests to its endpoint at `url`.
 * Returns a function that withdraws this offer. If the variable `NOVA_WIRE` is 1, `offerService` offers nothing, so all
 * clients use HTTP.
 */
export function offerService(url: string, { accessKeyId, perform, serves }: OwnService): () => void {
  const { host } = new URL(url);
  // Keeps the caller's async context away from the service, as a socket does.
  const runInServiceContext = AsyncLocalStorage.snapshot();
  const offer: OwnService = {
    accessKeyId,
    serves,
    perform: (operation, input) => runInServiceContext(perform, operation, input),
  };
  if (process.env.NOVA_WIRE !== "1") offers.set(host, offer);
  return () => {
    if (offers.get(host) === offer) offers.delete(host);
  };
}

type Client = DynamoDBClient | EventBridgeClient | S3Client | SchedulerClient | SFNClient;

/**
 * Makes a client call the service that `offerService` has offered for the client's endpoint. No request is serialised,
 * signed or parsed. If no service is offered, as in a Lambda, the client sends requests. If the service throws an
 * error, the SDK converts the error to an error class of the SDK, or retries the request over HTTP. An `abortSignal`
 * does not end a call.
 */
export function useOwnServices(client: Client): void {
  const { middlewareStack, config } = client as DynamoDBClient;
  let endpoint: string | undefined;
  middlewareStack.add(
    (next, { clientName = "", commandName = "" }) => {
      const operation = commandName.replace(/Command$/, "");
      return async (args) => {
        if (offers.size === 0) return next(args);
        endpoint ??= await endpointOf(config);
        const service = offers.get(endpoint);
        if (service?.accessKeyId !== (await config.credentials()).accessKeyId) return next(args);
        if (service.serves?.(operation, args.input) === false) return next(args);
        await letOthersRun();
        called.publish({ client: clientName, operation, input: args.input } satisfies OwnCall);
        try {
          const output = await service.perform(operation, args.input);
          return { response: undefined, output: Object.assign(output, { $metadata: succeeded }) };
        } catch (error) {
          if (!isRefusal(error)) throw error;
          return next(Object.assign({ ...args }, { refusal: { error, isNew: true } }));
        }
      };
    },
    { step: "initialize", priority: "high", name: "callOwnService" },
  );
  middlewareStack.add(
    (next, { clientName, commandName }) =>
      async (args) => {
        const { refusal } = args as Refused;
        if (!refusal?.isNew) return next(args);
        refusal.isNew = false;
        const { status: statusCode, ...response } = (clientName === "S3Client" ? inXml : inJson)(refusal.error);
        // S3 answers a HEAD request without a body.
        if (commandName === "HeadObjectCommand") response.body = Buffer.alloc(0);
        // Only the deserialiser runs after this middleware. It reads `response` and ignores `output`.
        return { response: { statusCode, ...response }, output: undefined as never };
      },
    { step: "deserialize", priority: "low", name: "answerWithRefusal" },
  );
}

/** Returns a client for presigned URLs, which never calls an offered service. It signs commands for its endpoint. */
export function forSigning<C extends Client>(client: C): C {
  const middlewareStack = client.middlewareStack.clone();
  middlewareStack.remove("callOwnService");
  return Object.create(client, { middlewareStack: { value: middlewareStack } });
}

interface Refusal {
  name: string;
  message: string;
  status: number;
}

function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && "status" in error && typeof error.status === "number";
}

/**
 * The arguments of a request that an offered service has refused. `isNew` is true until the SDK has received the error.
 * If the SDK then retries the request, it uses HTTP.
 */
interface Refused {
  refusal?: { error: Refusal; isNew: boolean };
}

const succeeded = { httpStatusCode: 200, attempts: 1, totalRetryDelay: 0 };

function inJson({ name, message, status }: Refusal) {
  const headers = { "content-type": "application/json", "x-amzn-errortype": name };
  return { status, headers, body: Buffer.from(JSON.stringify({ __type: name, message, Message: message })) };
}

function inXml({ name, message, status }: Refusal) {
  const escaped = message.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  const body = `<Error><Code>${name}</Code><Message>${escaped}</Message></Error>`;
  return { status, headers: { "content-type": "application/xml" }, body: Buffer.from(body) };
}

/**
 * Returns host and port of a client's endpoint. Like the SDK, it looks in the client's options, and then in the
 * environment variable of the service.
 */
async function endpointOf(config: DynamoDBClient["config"]): Promise<string> {
  if (config.endpoint) {
    const { hostname, port } = await config.endpoint();
    return port === undefined ? hostname : `${hostname}:${port}`;
  }
  const url = process.env[`AWS_ENDPOINT_URL_${config.serviceId.toUpperCase().replaceAll(" ", "_")}`];
  return url === undefined ? "" : new URL(url).host;
}

/** Maximum number of milliseconds for which calls to offered services may block timers and sockets. */
const longestTurnMs = 5;
let turnStartedMs: number | undefined;

/**
 * Lets pending timers and sockets run if calls have blocked them for more than `longestTurnMs`. These calls use no
 * socket, so they do not return to the event loop by themselves.
 */
async function letOthersRun(): Promise<void> {
  const now = performance.now();
  if (turnStartedMs === undefined) {
    turnStartedMs = now;
    setImmediate(undefined, { ref: false }).then(() => {
      turnStartedMs = undefined;
    });
  }
  if (now - turnStartedMs > longestTurnMs) await setImmediate();
}
