import type { JsonObject, WrittenJson } from "./json/exact.ts";
import type { LockedCode } from "./lock/lock-file.ts";
import type { Retry } from "./retry.ts";

/** A checked workflow: the output of `parseWorkflow`. Workflows with the same `workflowText` are the same version. */
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
  /**
   * Seconds that an idle sandbox waits for the next run of its client; 0: NOVA stops the sandbox at once. Absent:
   * `defaultIdleSeconds`.
   */
  idleSeconds?: number;
  /** Number of sandboxes per client that keep waiting after `idleSeconds`. */
  warm?: number;
  lib: Record<string, string>;
  /** `false`: no node may ask a model. */
  models?: false;
  /** The models by role, for prompt and text nodes that do not name their own. */
  model?: ModelChoice;
  maxCostUsd?: number;
  /** Present if prompt nodes may run only code that a person has approved. */
  approval?: "required";
  /** Present if each client has its own generated code. */
  scope?: "client";
  lock?: Record<string, LockedCode>;
  credentials?: string[];
  onFailure?: OnFailure;
  triggers?: Trigger[];
  nodes: Node[];
  edges: Edge[];
  draftPrefix?: DraftPrefix;
}

/** The nodes before a part of a draft, which have already run. */
export interface DraftPrefix {
  /** Ids of the nodes before the part, in the order in which they ran. A run of the part starts with their outcomes. */
  passed: string[];
  /** The nodes before the part, and those maps of the part whose outcome is recorded. All are without their code. */
  nodes: Node[];
  edges: Edge[];
}

/**
 * Seconds that an idle sandbox waits by default: long enough for a client's next run, and short enough to cost little
 * after the last one.
 */
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
  /** Only for a tool of an agent: the JSON schema of its arguments. */
  inputSchema?: WrittenJson;
}

export interface StartNode extends NodeBase {
  type: "start";
}

export interface EndNode extends NodeBase {
  type: "end";
}

export type TaskNode = StepNode | AgentNode;

export interface StepNode extends TaskBase {
  type: "action" | "decision";
  executor: Executor;
}

/**
 * A model that calls tools until it has an answer. Each visit asks the model once. If the model requests calls, the run
 * carries them out side by side, and then visits the agent again.
 */
export interface AgentNode extends TaskBase {
  type: "agent";
  executor: AgentExecutor;
  /** The nodes of all tools. A call starts at the `entry` of its tool. */
  body: Body;
  maxConcurrency: number;
}

interface TaskBase extends NodeBase {
  /** The longest time that the code of one attempt may run, in seconds (1 to 86,400). */
  timeoutSeconds: number;
  /**
   * `true`: code that has started is never run again. `false`: it is run again, such as after a lost sandbox. Absent:
   * it is run again only in the attempts of a model.
   */
  effects?: boolean;
  /** The node that continues after a failure of this one. Absent: the run fails. */
  onError?: string;
  retry?: Retry;
  inputKeys?: Record<string, InputKey>;
  /** Names of the credentials for the code. Absent: the credentials of the workflow. */
  credentials?: string[];
  /**
   * `fresh`: the node gets a new sandbox, which no later node uses. `execution`: no other run uses the sandboxes of
   * this run.
   */
  isolation?: "fresh" | "execution";
}

/**
 * A value from earlier results: the key `key` of a node, or all of its results without `key`. Without `node`, it is the
 * key of a direct predecessor.
 */
export type InputKey = { node: string; key?: string } | { node?: never; key: string };

export interface Body {
  nodes: Node[];
  edges: Edge[];
}

export interface MapNode extends NodeBase {
  type: "map";
  /** Dot path of a list in the context. */
  items: string;
  /** Key under which the nodes of an item find the item in their context. The item's number is under `index`. */
  as: string;
  /** Key under which the list of results is stored, in the order of the items. */
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
  /** Forms by choice. Each of them replaces `form` if a person makes that choice. */
  forms?: Record<string, WrittenJson>;
  choices: string[];
  timeoutSeconds: number;
  to: string[];
  /** Absent: every caller of the API whose role is at least `runner` may answer. */
  approvers?: Approvers;
  /** The times of reminders: seconds after the question, in ascending order. */
  remindSeconds?: number[];
  /** Addresses to which NOVA posts the question. */
  notify?: string[];
  into: string;
  onError?: string;
}

export interface Approvers {
  /** Mail addresses in lower case, `role:<name>`, and `group:<name>`. */
  any: string[];
  /** How many different people must make the same choice. */
  count: number;
  /**
   * People who must not vote: `starter` is the person who started the run, and the id of an approval stands for
   * everyone who voted there.
   */
  not: string[];
}

export interface WaitNode extends NodeBase {
  type: "wait";
  for:
    | { kind: "seconds"; seconds: number }
    /** A wait until an ISO time, or until the time at a `{{dot.path}}` of the context. */
    | { kind: "until"; until: string }
    /**
     * A wait for an event. Texts of the pattern may be templates. With `since`, an event since the start of the run
     * counts, even before the wait began.
     */
    | { kind: "event"; pattern: JsonObject; timeoutSeconds: number; into: string; since?: "start" };
  onError?: string;
}

export interface WorkflowNode extends NodeBase {
  type: "workflow";
  workflow: string;
  version?: number;
  /**
   * Maps a key of the child's context to a dot path of this context, or to `"$"` for all of it. Absent: the child gets
   * the whole context.
   */
  input?: Record<string, string>;
  /** Maps a key of this context to a dot path of the child's last context, or to `"$"` for all of it. */
  output: Record<string, string>;
  onError?: string;
}

export type Executor = CodeExecutor | PromptExecutor | TextExecutor;

/** Returns the code that the definition has for a code node or a compiled agent. */
export function codeInDefinition(executor: Executor | undefined): Pick<CodeExecutor, "code" | "file"> | undefined {
  if (executor?.kind === "code") return executor;
  return executor?.kind === "text" ? executor.compiled : undefined;
}

export interface CodeExecutor {
  kind: "code";
  code: string;
  file?: string;
  /**
   * The only addresses that the code can reach, as `host` or `host:port`, sorted. Absent: the code reaches all hosts
   * except the machine itself.
   */
  allow?: string[];
}

/**
 * A model writes the code. A field that the node does not set has the value that the workflow sets for all its nodes,
 * except for `model` and `maxCostUsd`.
 */
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

/** A model writes the value of the node in each run. The node has no code. */
export interface TextExecutor {
  kind: "text";
  /** The prompt of a text node. References in `prompt` and `system` are replaced by outputs of other nodes. */
  prompt: string;
  file?: string;
  system?: string;
  model?: string;
  temperature?: number;
  maxTokens?: number;
  outputSchema?: WrittenJson;
  into: string;
  /** Maximum number of characters of one inserted value. Absent: `defaultMaxChars`. */
  maxChars?: number;
  /** `mark`: the prompt gets an error text in place of a missing value. Absent: a missing value makes the node fail. */
  onMissing?: "mark";
  maxCostUsd?: number;
  /**
   * Only for an agent: code that calls the tools of the agent in place of its model. If the code fails, the model
   * continues.
   */
  compiled?: CompiledCode;
}

export interface CompiledCode extends Pick<CodeExecutor, "code" | "file"> {
  /** The id of the agent, which the definition has beside the code. */
  agent: string;
}

/** A text node with tools. */
export interface AgentExecutor extends TextExecutor {
  tools: AgentTool[];
  /** Maximum number of steps of one run of the agent. Each call is a step, and so is each answer that does not fit. */
  maxSteps: number;
}

export interface AgentTool {
  /** The name under which the model calls the tool: the id of its node, or of the workflow that it runs. */
  name: string;
  /** The first node of a call: the node of the tool, or the approval before it. */
  entry: string;
}

export type ModelRole = "text" | "input_analyzer" | "data_analyzer" | "code_generator" | "output_validator";

/** Ids of models by role. `default` is the model of every role that is not named. */
export type ModelChoice = Partial<Record<ModelRole | "default", string>>;

export type Condition = string | boolean | number;

export interface Edge {
  from: string;
  to: string;
  /**
   * Only edges that leave a decision or an approval have a condition. `"default"` matches every value that no other
   * edge matches.
   */
  condition?: Condition;
  /** Present on an edge that leads back: how many times in a row a run may take it. */
  max?: number;
}

/**
 * Numbers of events in the Step Functions history of a run. Runs use them to count their events if the loops of the
 * workflow may need more events than one history can hold.
 */
export interface HistoryBudget {
  /** If a run has counted more events than this, its next loop edge continues in a further execution. */
  most: number;
  /** Number of events at the start of every execution. */
  begun: number;
  /** Number of additional events of a node that fails without ending the run. */
  settled: number;
  /** Number of events of an entry, by its `node_id`. */
  entries: Readonly<Record<string, EntryEvents>>;
}

export interface EntryEvents {
  own: number;
  each?: number;
  /**
   * Only for the join of a map: the largest number of items that run in the execution of the run itself. If the map has
   * more items, each item has an execution of its own, whose events do not count here.
   */
  inlineItems?: number;
}

/** Starts runs of a workflow from outside, as long as the version that declares it is active. */
export type Trigger = MailTrigger | ImapTrigger | WebhookTrigger | ScheduleTrigger | EventTrigger;
export type TriggerType = Trigger["type"];

interface TriggerBase {
  /** Id of the trigger, unique in its workflow. Default: its type and a number, such as `schedule-1`. */
  id: string;
  client?: string;
}

/** A mail to `<address>` or `<address>+<client>` at NOVA's mail domain starts a run. */
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

/** A request to `/hooks/<id>` starts a run. The id is unique across all workflows. */
export interface WebhookTrigger extends TriggerBase {
  type: "webhook";
  signature?: WebhookSignature;
  /** Dot path of the delivery's id in `{headers, body}`, such as `headers.x-delivery` or `body.id`. */
  dedupe?: string;
  waitSeconds?: number;
}

export interface WebhookSignature {
  header: string;
  secret: string;
  algorithm: "sha1" | "sha256" | "sha512";
  /** The text before the digest in the header, such as `sha256=`. */
  prefix?: string;
  /** The largest age of a request. Present if the header contains the time of signing, as Stripe's does. */
  toleranceSeconds?: number;
}

export interface ScheduleTrigger extends TriggerBase {
  type: "schedule";
  when: /** The six fields of a cron expression of EventBridge Scheduler, without `cron(...)` around them. */
    | { kind: "cron"; cron: string }
    | { kind: "every"; everySeconds: number }
    /** A local time in the time zone of the trigger, such as `2026-01-31T09:00:00`. */
    | { kind: "at"; at: string };
  timezone?: string;
  context?: WrittenJson;
}

export interface EventTrigger extends TriggerBase {
  type: "event";
  pattern: WrittenJson;
  bus: "nova" | "default";
}

/**
 * The recipients of notices about failed runs. NOVA notifies the recipients of the workflow and also those of the
 * client.
 */
export interface OnFailure {
  mail?: string[];
  webhook?: FailureWebhook;
}

export interface FailureWebhook {
  url: string;
  /** Name of the credential whose secret signs the request; absent: it is not signed. */
  secret?: string;
}
