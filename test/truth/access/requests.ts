import type { Access } from "./policy.ts";

/** A request to AWS, recorded by the proxy. */
export interface AwsRequest {
  /** The id of the access key. Each function and each other caller uses its own name as the id. */
  who: string;
  service: string;
  /** Target of a JSON-RPC service, such as `DynamoDB_20120810.GetItem`. */
  target: string;
  method: string;
  /** The path of the URL with its query. */
  path: string;
  /** The object that an S3 request copies; empty for other requests. */
  source: string;
  /** The body of the request. Bodies of S3 requests are left out, except for a list of objects to delete. */
  body: string;
}

const [account, region] = ["123456789012", "us-east-1"];

function arn(service: string, resource: string): string {
  return `arn:aws:${service}:${region}:${account}:${resource}`;
}

type Values = Record<string, { S?: string }>;

/** Fields of request bodies that name resources. */
interface Body {
  TableName?: string;
  IndexName?: string;
  Key?: Values;
  Item?: Values;
  KeyConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Values;
  RequestItems?: Record<string, { Keys: Values[] }>;
  KeyId?: string;
  EncryptionContext?: Record<string, string>;
  Names?: string[];
  stateMachineArn?: string;
  stateMachineVersionArn?: string;
  executionArn?: string;
  name?: string;
  roleArn?: string;
  publish?: boolean;
  Entries?: { EventBusName?: string }[];
  EventBusName?: string;
  Name?: string;
  Rule?: string;
  Targets?: { Arn: string; RoleArn?: string }[];
  Target?: { RoleArn: string };
  GroupName?: string;
  FromEmailAddress?: string;
}

/** Thrown for a request that this check does not know. The request then counts as not allowed. */
export class UnknownRequest extends Error {
  override name = "UnknownRequest";
}

/**
 * Returns the accesses that a request needs, in terms of IAM ("Actions, resources, and condition keys for AWS
 * services").
 */
export function accessesOf(request: AwsRequest): Access[] {
  const read = services[request.service];
  if (!read) throw new UnknownRequest(`${request.service} ${request.target} ${request.method} ${request.path}`);
  const isJson = request.service !== "s3" && request.body.startsWith("{");
  const body: Body = isJson ? JSON.parse(request.body) : {};
  return read(request.target.split(".").at(-1) ?? "", body, request);
}

type Read = (action: string, body: Body, request: AwsRequest) => Access[];

const services: Record<string, Read> = {
  dynamodb: (action, body) => {
    const table = body.TableName ?? Object.keys(body.RequestItems ?? {})[0];
    const resource = arn("dynamodb", `table/${table}${body.IndexName ? `/index/${body.IndexName}` : ""}`);
    const keys = partitionsOf(body);
    return [
      { action: `dynamodb:${action}`, resource, context: keys.length > 0 ? { "dynamodb:LeadingKeys": keys } : {} },
    ];
  },
  kms: (action, { KeyId = "", EncryptionContext = {} }) => {
    const resource = KeyId.startsWith("arn:") ? KeyId : arn("kms", `key/${KeyId}`);
    const entries = Object.entries(EncryptionContext).map(([name, value]) => [
      `kms:EncryptionContext:${name}`,
      [value],
    ]);
    const keys = Object.keys(EncryptionContext);
    const context = { ...Object.fromEntries(entries), ...(keys.length > 0 && { "kms:EncryptionContextKeys": keys }) };
    return [{ action: `kms:${action}`, resource, context }];
  },
  ssm: (action, { Names = [] }) =>
    Names.map((name) => ({ action: `ssm:${action}`, resource: arn("ssm", `parameter${name}`), context: {} })),
  states: (action, body) => {
    const { stateMachineArn, executionArn, stateMachineVersionArn, name, roleArn, publish } = body;
    const named = stateMachineArn ?? executionArn ?? stateMachineVersionArn;
    // A request that answers a task does not name the state machine. Only the task token identifies the state machine.
    const resource = named ?? arn("states", `stateMachine:${name ?? "nova-of-the-token"}`);
    return [
      { action: `states:${action}`, resource, context: {} },
      ...(publish ? [{ action: "states:PublishStateMachineVersion", resource, context: {} }] : []),
      ...(roleArn ? [passed(roleArn, "states.amazonaws.com")] : []),
    ];
  },
  events: (action, { Entries = [], EventBusName, Name, Rule, Targets = [] }) => {
    if (action === "PutEvents") {
      const buses = Entries.map(({ EventBusName: bus = "default" }) => arn("events", `event-bus/${bus}`));
      return buses.map((resource) => ({ action: "events:PutEvents", resource, context: {} }));
    }
    const bus = EventBusName?.split("/").at(-1) ?? "default";
    const resource = arn("events", `rule/${bus === "default" ? "" : `${bus}/`}${Name ?? Rule}`);
    const targets = Targets.map(({ Arn }) => Arn).filter(Boolean);
    return [
      { action: `events:${action}`, resource, context: targets.length > 0 ? { "events:TargetArn": targets } : {} },
      ...Targets.flatMap(({ RoleArn }) => (RoleArn ? [passed(RoleArn, "events.amazonaws.com")] : [])),
    ];
  },
  scheduler: (_, { GroupName, Target }, { method, path }) => {
    const { pathname, searchParams } = new URL(path, "http://scheduler");
    const group = GroupName ?? searchParams.get("groupName") ?? "default";
    const verb = { POST: "Create", PUT: "Update", DELETE: "Delete", GET: "Get" }[method];
    const resource = arn("scheduler", `schedule/${group}/${pathname.split("/").at(-1)}`);
    return [
      { action: `scheduler:${verb}Schedule`, resource, context: {} },
      ...(Target ? [passed(Target.RoleArn, "scheduler.amazonaws.com")] : []),
    ];
  },
  ses: (_, { FromEmailAddress }) => [
    { action: "ses:SendEmail", resource: arn("ses", `identity/${FromEmailAddress}`), context: {} },
  ],
  sqs: (action, body) => [
    {
      action: `sqs:${action}`,
      resource: arn(
        "sqs",
        String((body as { QueueUrl?: string }).QueueUrl)
          .split("/")
          .at(-1) ?? "",
      ),
      context: {},
    },
  ],
  lambda: (_, __, { path }) => {
    const [, name = ""] = /\/functions\/([^/]+)\/invocations/.exec(path) ?? [];
    const given = decodeURIComponent(name);
    const resource = given.startsWith("arn:") ? given : arn("lambda", `function:${given}`);
    return [{ action: "lambda:InvokeFunction", resource, context: {} }];
  },
  s3: (_, __, { method, path, source, body }) => {
    const { pathname, searchParams } = new URL(path, "http://s3");
    const [, bucket = "", key = ""] = /^\/([^/]*)\/?(.*)$/.exec(decodeURIComponent(pathname)) ?? [];
    const object = (name: string) => `arn:aws:s3:::${bucket}/${name}`;
    if (searchParams.has("delete")) {
      const keys = [...body.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = ""]) => name);
      return keys.map((name) => ({ action: "s3:DeleteObject", resource: object(name), context: {} }));
    }
    if (key === "") return [{ action: "s3:ListBucket", resource: `arn:aws:s3:::${bucket}`, context: {} }];
    const verb = { GET: "Get", HEAD: "Get", PUT: "Put", POST: "Put", DELETE: "Delete" }[method];
    const copied = decodeURIComponent(source).replace(/^\//, "");
    return [
      { action: `s3:${verb}Object`, resource: object(key), context: {} },
      ...(copied ? [{ action: "s3:GetObject", resource: `arn:aws:s3:::${copied}`, context: {} }] : []),
    ];
  },
};

function passed(resource: string, service: string): Access {
  return { action: "iam:PassRole", resource, context: { "iam:PassedToService": [service] } };
}

/** Returns the partition keys that a table request names; none for a scan, or for a query of an index. */
function partitionsOf(body: Body): string[] {
  if (body.Key) return [partitionOf(body.Key)];
  if (body.Item) return [partitionOf(body.Item)];
  if (body.RequestItems) return Object.values(body.RequestItems).flatMap(({ Keys }) => Keys.map(partitionOf));
  const { KeyConditionExpression: condition, ExpressionAttributeNames: names = {} } = body;
  if (condition === undefined) return [];
  const pairs = [...condition.matchAll(/([#\w]+)\s*=\s*(:\w+)/g)];
  const [, , value = ""] = pairs.find(([, name = ""]) => (names[name] ?? name) === "pk") ?? [];
  const key = body.ExpressionAttributeValues?.[value]?.S;
  return key === undefined ? [] : [key];
}

function partitionOf({ pk }: Values): string {
  if (pk?.S === undefined) throw new UnknownRequest("an item without pk");
  return pk.S;
}
