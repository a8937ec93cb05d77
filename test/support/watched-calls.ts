import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import type { OwnCall } from "../../packages/aws/src/clients/own-services.ts";

interface LambdaFunction {
  handler(event: never, context: never): Promise<unknown>;
}

/**
 * The AWS calls that functions made, in the form of `allowedBy`: `dynamodb:Query on Table.Arn where pk is C#*`. They
 * include the call that reads E2B's key, although only deployed functions make this call.
 */
export interface WatchedCalls extends Disposable {
  of(functionName: string): string[];
}

const services: Record<string, string> = {
  DynamoDB_20120810: "dynamodb",
  AWSStepFunctions: "states",
  AWSEvents: "events",
};

/**
 * A deployed function reads E2B's key from Systems Manager before it uses E2B. So each request to E2B counts as this
 * call, too.
 */
const readsKeyOfE2b = "ssm:GetParameters on arn:aws:ssm:us-east-1:123456789012:parameter/nova/production/E2B_API_KEY";

/** Records the AWS calls that functions of this process make from now on. */
export function watchCalls(functions: Record<string, LambdaFunction>): WatchedCalls {
  const caller = new AsyncLocalStorage<string>();
  const calls = new Map<string, Set<string>>();
  const handlers = Object.entries(functions).map(([name, fn]) => {
    const { handler } = fn;
    fn.handler = (event, context) => caller.run(name, () => handler(event, context));
    return () => Object.assign(fn, { handler });
  });
  const note = (name: string, call: string) => calls.set(name, (calls.get(name) ?? new Set()).add(call));
  const onRequest = (message: unknown) => {
    const name = caller.getStore();
    const { request } = message as { request: ClientRequest };
    if (name !== undefined)
      whenEnded(request, (body) => callsOf(request, body).forEach((call) => void note(name, call)));
  };
  const onCalled = (message: unknown) => {
    const name = caller.getStore();
    if (name !== undefined) for (const call of ownCalls(message as OwnCall)) note(name, call);
  };
  const onFetch = (message: unknown) => {
    const name = caller.getStore();
    const { headers } = (message as { request: { headers: string[] } }).request;
    if (name !== undefined && /\bx-api-key\b/i.test(String(headers))) note(name, readsKeyOfE2b);
  };
  subscribe("http.client.request.created", onRequest);
  subscribe("undici:request:create", onFetch);
  subscribe("nova.service.called", onCalled);
  return {
    of: (name) => [...(calls.get(name) ?? [])].sort(),
    [Symbol.dispose]() {
      unsubscribe("http.client.request.created", onRequest);
      unsubscribe("undici:request:create", onFetch);
      unsubscribe("nova.service.called", onCalled);
      for (const restore of handlers) restore();
    },
  };
}

/** Calls `use` with the body of a request when it is complete. The SDK passes the body to `end`. */
function whenEnded(request: ClientRequest, use: (body: string) => void): void {
  const end = request.end.bind(request) as (...given: unknown[]) => ClientRequest;
  request.end = ((body: unknown, ...more: unknown[]) => {
    use(typeof body === "function" || body === undefined ? "" : String(body));
    return end(body, ...more);
  }) as ClientRequest["end"];
}

/** Returns the AWS calls that a request makes; none for a request to another server. */
function callsOf(request: ClientRequest, body: string): string[] {
  const target = String(request.getHeader("x-amz-target") ?? "");
  return namedCalls(target, body) ?? s3Calls(request, body) ?? restCalls(request);
}

/** Returns the calls that the target header names; undefined if the request has no such header. */
function namedCalls(named = "", body: string): string[] | undefined {
  const [target = "", action = ""] = named.split(".");
  const service = services[target];
  if (service === "dynamodb") return [`dynamodb:${action} on ${partOfTable(JSON.parse(body))}`];
  return service === undefined ? undefined : [`${service}:${action}`];
}

const clients: Record<string, string> = {
  SFNClient: "states",
  EventBridgeClient: "events",
  SchedulerClient: "scheduler",
};

/**
 * Returns the AWS actions of a call that a service of this process performs without HTTP. A request that deletes
 * several objects counts as one call for each object.
 */
function ownCalls({ client, operation, input }: OwnCall): string[] {
  if (client === "DynamoDBClient") return [`dynamodb:${operation} on ${partOfTable(input as TableCall)}`];
  if (client !== "S3Client") return [`${clients[client]}:${operation}`];
  if (operation === "ListObjectsV2") return ["s3:ListBucket on Bucket.Arn"];
  const { Key = "", Delete } = input as { Key?: string; Delete?: { Objects: { Key: string }[] } };
  const action = { HeadObject: "GetObject", DeleteObjects: "DeleteObject" }[operation] ?? operation;
  const keys = Delete ? Delete.Objects.map((object) => object.Key) : [Key];
  return keys.map((key) => `s3:${action} on Bucket.Arn/${/^(proofs\/)?[^/]*/.exec(key)?.[0]}/*`);
}

const s3Actions: Record<string, string> = { GET: "GetObject", HEAD: "GetObject", PUT: "PutObject" };

/** Returns the S3 calls of a request; undefined if it does not address the bucket. */
function s3Calls(request: ClientRequest, body: string): string[] | undefined {
  const [, prefix = "", query = ""] = /^\/nova\/?([^/?]*)[^?]*\??(.*)$/.exec(request.path) ?? [];
  if (!/^\/nova[/?]/.test(request.path)) return undefined;
  const on = (action: string, part: string) => `s3:${action} on Bucket.Arn/${part}/*`;
  if (query.startsWith("delete"))
    return [...body.matchAll(/<Key>(\w+)\//g)].map(([, part = ""]) => on("DeleteObject", part));
  if (query.includes("list-type=2")) return ["s3:ListBucket on Bucket.Arn"];
  const source = /\/?nova(?:\/|%2F)(\w+)/.exec(String(request.getHeader("x-amz-copy-source") ?? ""))?.[1];
  return [on(s3Actions[request.method] ?? request.method, prefix), ...(source ? [on("GetObject", source)] : [])];
}

const schedulerActions: Record<string, string> = { POST: "Create", GET: "Get", PUT: "Update", DELETE: "Delete" };

function restCalls({ path, method }: ClientRequest): string[] {
  if (path.startsWith("/schedules/")) return [`scheduler:${schedulerActions[method]}Schedule`];
  return path.startsWith("/v2/email/") ? ["ses:SendEmail"] : [];
}

type Values = Record<string, { S?: string }>;

interface TableCall {
  IndexName?: string;
  Key?: Values;
  Item?: Values;
  ExpressionAttributeValues?: Values;
  RequestItems?: Record<string, { Keys: Values[] }>;
}

function partOfTable(input: TableCall) {
  if (input.IndexName !== undefined) return `Table.Arn/index/${input.IndexName}`;
  const values = Object.values(input.ExpressionAttributeValues ?? {});
  const [batch] = Object.values(input.RequestItems ?? {});
  const key =
    (input.Key ?? input.Item ?? batch?.Keys[0])?.pk ??
    values.find(({ S }) => S !== undefined && /^([A-Z]+#|(A|ROOT|STAMP|DAILYCHECK)$)/.test(S));
  return key?.S === undefined ? "Table.Arn" : `Table.Arn where pk is ${key.S.replace(/#.*/s, "#*")}`;
}
