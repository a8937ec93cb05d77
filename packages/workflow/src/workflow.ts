import type { JsonObject, WrittenJson } from "./json/exact.ts";
import type { LockedCode } from "./lock/lock-file.ts";
import type { Retry } from "./retry.ts";

/** A checked workflow: the output of `parseWorkflow`. Its text decides the version. */
export interface Workflow {
  format: 1;
  id: string;
  name: string;
  description?: string;
  timeoutSeconds?: number;
  /** JSON schema of the initial context. A property may have `secret: true`. */
  inputs?: WrittenJson;
  labels?: Record<string, string>;
  requirements: string[];
  /** Seconds that an idle sandbox waits for the next run; 0: it does not wait. Absent: `defaultIdleSeconds`. */
  idleSeconds?: number;
  /** Number of sandboxes per client that stay after `idleSeconds`. */
  warm?: number;
  lib: Record<string, string>;
  /** `false`: no node may ask a model. */
  models?: false;
  /** Models of the prompt and text nodes that name none for a role. */
  model?: ModelChoice;
  maxCostUsd?: number;
  /** Prompt nodes run only code that a person has approved. */
  approval?: "required";
  /** Generated code is kept separately for each client. */
  scope?: "client";
  lock?: Record<string, LockedCode>;
  credentials?: string[];
  onFailure?: OnFailure;
  triggers?: Trigger[];
  nodes: Node[];
  edges: Edge[];
  draftPrefix?: DraftPrefix;
}

/** The nodes before a part of a draft. They have run already. */
export interface DraftPrefix {
  /** Ids of the nodes before the part, in their order. A run of the part starts with their outcomes. */
  passed: string[];
  /** These nodes, and maps of the part with recorded outcomes. Both without their code. */
  nodes: Node[];
  edges: Edge[];
}

/** Long enough for a client with consecutive runs, and short enough to cost little after the last run. */
export const defaultIdleSeconds = 60;

export type { JsonObject, JsonValue } from "./json/exact.ts";

export type Node = StartNode | TaskNode | EndNode | MapNode | ApprovalNode | WaitNode | WorkflowNode;
export type NodeType = Node["type"];

interface NodeBase {
  id: string;
  name?: string;
  description?: string;
  /** How the join merges a key that several branches set. Absent: the values must be equal, or the join fails. */
  merge?: "last" | "collect";
}

export interface StartNode extends NodeBase {
  type: "start";
}

export interface EndNode extends NodeBase {
  type: "end";
}

export interface TaskNode extends NodeBase {
  type: "action" | "decision";
  executor: Executor;
  /** Limit of one sandbox run, in seconds (1 to 86,400). */
  timeoutSeconds: number;
  /** `true`: started code is never run again. `false`: it may be. Absent: only models run it again. */
  effects?: boolean;
  /** The node that continues after a failure of this one. Absent: the run fails. */
  onError?: string;
  retry?: Retry;
  inputKeys?: Record<string, InputKey>;
  /** Names of the credentials for the code. Absent: those of the workflow. */
  credentials?: string[];
  /** `fresh`: a new sandbox, which no later node uses. */
  isolation?: "fresh" | "execution";
}

/** A key of a node's results, or all of them. Without a node: the key of a direct predecessor. */
export type InputKey = { node: string; key?: string } | { node?: never; key: string };

export interface Body {
  nodes: Node[];
  edges: Edge[];
}

export interface MapNode extends NodeBase {
  type: "map";
  /** Dot path of a list in the context. */
  items: string;
  /** Key of the item in the context of the item's nodes. Its number is under `index`. */
  as: string;
  /** Key of the list of results, in the order of the items. */
  into: string;
  body: Body;
  maxConcurrency: number;
  toleratedFailures?: { count: number } | { percent: number };
  onError?: string;
}

export interface ApprovalNode extends NodeBase {
  type: "approval";
  message: string;
  form?: WrittenJson;
  /** Forms by choice. Each replaces `form` for answers with that choice. */
  forms?: Record<string, WrittenJson>;
  choices: string[];
  timeoutSeconds: number;
  to: string[];
  into: string;
  onError?: string;
}

export interface WaitNode extends NodeBase {
  type: "wait";
  for:
    | { kind: "seconds"; seconds: number }
    /** ISO time, or the `{{dot.path}}` of one in the context. */
    | { kind: "until"; until: string }
    /** Its texts may be templates. With `since`, an event after the start of the run counts as well. */
    | { kind: "event"; pattern: JsonObject; timeoutSeconds: number; into: string; since?: "start" };
  onError?: string;
}

export interface WorkflowNode extends NodeBase {
  type: "workflow";
  workflow: string;
  version?: number;
  /** Key of the child's context -> dot path of this context, or `"$"` for all of it. Absent: the whole context. */
  input?: Record<string, string>;
  /** Key of this context -> dot path of the child's last context, or `"$"`. */
  output: Record<string, string>;
  onError?: string;
}

export type Executor = CodeExecutor | PromptExecutor | TextExecutor;

export interface CodeExecutor {
  kind: "code";
  code: string;
  file?: string;
  /** `host` or `host:port`, sorted: the only addresses that the code reaches. Absent: all except the machine itself. */
  allow?: string[];
}

/** A model writes the code. The settings of the workflow are merged in, except for `model` and `maxCostUsd`. */
export interface PromptExecutor {
  kind: "prompt";
  prompt: string;
  file?: string;
  model?: ModelChoice;
  /** True if a model may see short samples of values, in addition to names and types. */
  samples: boolean;
  maxCostUsd?: number;
  allow: string[];
}

/** A model writes the node's value in each run. There is no code. */
export interface TextExecutor {
  kind: "text";
  /** References in `prompt` and `system` stand for outputs of other nodes. */
  prompt: string;
  file?: string;
  system?: string;
  model?: string;
  temperature?: number;
  maxTokens?: number;
  outputSchema?: WrittenJson;
  into: string;
  /** Limit of one inserted value, in characters. Absent: `defaultMaxChars`. */
  maxChars?: number;
  /** `mark`: the prompt marks a missing value. Absent: the node fails. */
  onMissing?: "mark";
  maxCostUsd?: number;
}

export type ModelRole = "text" | "input_analyzer" | "data_analyzer" | "code_generator" | "output_validator";

/** Ids of models. One id for every role is `{ default }`. */
export type ModelChoice = Partial<Record<ModelRole | "default", string>>;

export type Condition = string | boolean | number;

export interface Edge {
  from: string;
  to: string;
  /** Only on edges that leave a decision or an approval; `"default"` matches every other value. */
  condition?: Condition;
  /** On an edge that leads back: how often in a row a run may take it. */
  max?: number;
}

/** Counts the events in the history of a Step Functions execution, for machines whose loops may exceed one history. */
export interface HistoryBudget {
  /** A loop edge continues in a new execution if the count is above this number. */
  most: number;
  /** Events at the start of every execution. */
  begun: number;
  /** Events of a failure that the run survives. */
  settled: number;
  /** Events by `node_id` of an entry. */
  entries: Readonly<Record<string, EntryEvents>>;
}

export interface EntryEvents {
  own: number;
  each?: number;
  /** For the join of a map: more items than this had executions, and so histories, of their own. */
  inlineItems?: number;
}

/** Starts runs of a workflow from outside, as long as the version that declares it is active. */
export type Trigger = MailTrigger | ImapTrigger | WebhookTrigger | ScheduleTrigger | EventTrigger;
export type TriggerType = Trigger["type"];

interface TriggerBase {
  /** Unique in its workflow. Default: its type and a number, such as `schedule-1`. */
  id: string;
  client?: string;
}

/** A mail to `<address>@` or `<address>+<client>@` NOVA's mail domain. */
export interface MailTrigger extends TriggerBase {
  type: "mail";
  address: string;
  /** Allowed senders in lower case: addresses, or `@domain` for a whole domain. Absent: everyone. */
  from?: string[];
}

export interface ImapTrigger extends TriggerBase {
  type: "imap";
  client: string;
  credential: string;
  mailbox: string;
  everySeconds: number;
  from?: string[];
}

/** A request to `/hooks/<id>`; the id is unique across workflows. */
export interface WebhookTrigger extends TriggerBase {
  type: "webhook";
  signature?: WebhookSignature;
  /** Dot path into `{headers, body}` of the delivery's id: `headers.x-delivery`, `body.id`. */
  dedupe?: string;
  waitSeconds?: number;
}

export interface WebhookSignature {
  header: string;
  secret: string;
  algorithm: "sha1" | "sha256" | "sha512";
  /** Text before the digest: `sha256=`. */
  prefix?: string;
  /** Present if the header holds the signing time, as Stripe's does: the age limit of a request. */
  toleranceSeconds?: number;
}

export interface ScheduleTrigger extends TriggerBase {
  type: "schedule";
  when: /** Six fields as in EventBridge Scheduler, without `cron(...)` around them. */
    | { kind: "cron"; cron: string }
    | { kind: "every"; everySeconds: number }
    /** A local time in the time zone, `2026-01-31T09:00:00`. */
    | { kind: "at"; at: string };
  timezone?: string;
  context?: WrittenJson;
}

export interface EventTrigger extends TriggerBase {
  type: "event";
  pattern: WrittenJson;
  bus: "nova" | "default";
}

/** Notified of failed runs. Settings of the workflow and of the client both apply. */
export interface OnFailure {
  mail?: string[];
  webhook?: FailureWebhook;
}

export interface FailureWebhook {
  url: string;
  /** Name of the credential whose secret signs the request; absent: it is not signed. */
  secret?: string;
}
