import type { WrittenJson } from "./json/exact.ts";
import type { JsonObject } from "./json/value.ts";
import type { LockedCode } from "./lock/lock-file.ts";
import type { OnFailure } from "./on-failure.ts";
import type { Retry } from "./retry.ts";
import type { Trigger } from "./trigger.ts";

/**
 * A normalised, self-contained and checked workflow: the output of `parseWorkflow`. Its text decides the version.
 * People write another form: the JSON of a folder, with aliases and `.py` files.
 */
export interface Workflow {
  format: 1;
  /** Slug: lower case, digits and dashes. */
  id: string;
  name: string;
  description?: string;
  /** Limit of a whole run, in seconds. */
  timeoutSeconds?: number;
  /** JSON schema of the initial context. A property may have `secret: true`. */
  inputs?: WrittenJson;
  /** Business keys of its runs, by name: templates over the initial context. */
  labels?: Record<string, string>;
  /** pip requirement lines of the sandbox template. */
  requirements: string[];
  /** Seconds that an idle sandbox waits for the next run; 0: it does not wait. Absent: `defaultIdleSeconds`. */
  idleSeconds?: number;
  /** Number of sandboxes per client that stay after `idleSeconds`. */
  warm?: number;
  /** Python modules that every node can import: path below `lib/` -> source. */
  lib: Record<string, string>;
  /** `false`: no node may ask a model. */
  models?: false;
  /** Models of the prompt and text nodes that name none for a role. */
  model?: ModelChoice;
  /** Limit for the models of one run, in US dollars. */
  maxCostUsd?: number;
  /** Prompt nodes run only code that a person has approved. */
  approval?: "required";
  /** Generated code is kept separately for each client. */
  scope?: "client";
  /** Locked code of prompt nodes, by node. */
  lock?: Record<string, LockedCode>;
  /** Credentials of the nodes that name none. Absent: all. */
  credentials?: string[];
  onFailure?: OnFailure;
  /** The triggers that start runs. */
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
  /** The edges that leave these nodes. */
  edges: Edge[];
}

/** Long enough for a client with consecutive runs, and short enough to cost little after the last run. */
export const defaultIdleSeconds = 60;

export type { JsonObject, JsonValue } from "./json/value.ts";

export type Node = StartNode | TaskNode | EndNode | MapNode | ApprovalNode | WaitNode | WorkflowNode;
export type NodeType = Node["type"];

interface NodeBase {
  id: string;
  name?: string;
  description?: string;
  /**
   * How the join of a fan-out merges a key that several branches set. Absent: the values must be equal, or the join
   * fails.
   */
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
  /**
   * `true`: started code is never run again. `false`: it may be. Absent: it is not, except in another attempt of a
   * model.
   */
  effects?: boolean;
  /** The node that continues after a failure of this one. Absent: the run fails. */
  onError?: string;
  retry?: Retry;
  /** Names in the context for results of earlier nodes. */
  inputKeys?: Record<string, InputKey>;
  /** Names of the credentials for the code. Absent: those of the workflow. */
  credentials?: string[];
  /** `fresh`: a new sandbox, which no later node uses. */
  isolation?: "fresh" | "execution";
}

/** A key of a node's results, or all of them. Without a node: the key of a direct predecessor. */
export type InputKey = { node: string; key?: string } | { node?: never; key: string };

/** The nodes and edges that a map runs for each item. */
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
  /** The question; `{{dot.path}}` stands for a value of the context. */
  message: string;
  /** JSON schema of the data that comes with an answer. */
  form?: WrittenJson;
  /** Forms by choice. Each replaces `form` for answers with that choice. */
  forms?: Record<string, WrittenJson>;
  choices: string[];
  timeoutSeconds: number;
  /** The people concerned, for the event and for lists of tasks. */
  to: string[];
  /** Key of the answer in the context: choice, data, by, at, from. */
  into: string;
  onError?: string;
}

export interface WaitNode extends NodeBase {
  type: "wait";
  for:
    | { kind: "seconds"; seconds: number }
    /** ISO time, or the `{{dot.path}}` of one in the context. */
    | { kind: "until"; until: string }
    /**
     * An EventBridge event pattern, whose texts may be templates. The matching event goes to `into`. With `since`, an
     * event after the start of the run counts as well.
     */
    | { kind: "event"; pattern: JsonObject; timeoutSeconds: number; into: string; since?: "start" };
  onError?: string;
}

/** Runs another workflow and continues after its end. */
export interface WorkflowNode extends NodeBase {
  type: "workflow";
  workflow: string;
  /** Absent: the latest version at the time when the node starts. */
  version?: number;
  /** Key of the child's context -> dot path of this context, or `"$"` for all of it. Absent: the whole context. */
  input?: Record<string, string>;
  /** Key of this context -> dot path of the child's last context, or `"$"`. */
  output: Record<string, string>;
  onError?: string;
}

export type Executor = CodeExecutor | PromptExecutor | TextExecutor;

/** Code written by hand. */
export interface CodeExecutor {
  kind: "code";
  code: string;
  file?: string;
  /**
   * `host` or `host:port`, sorted: the only addresses that the code can connect to. Absent: all except the machine
   * itself.
   */
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
  /** Limit for the models of one run of the node, in US dollars. */
  maxCostUsd?: number;
  /** `host` or `host:port`, sorted: the only addresses that the code can connect to. */
  allow: string[];
}

/** A model writes the node's value in each run. There is no code. */
export interface TextExecutor {
  kind: "text";
  /** References in `prompt` and `system` stand for outputs of other nodes. */
  prompt: string;
  file?: string;
  system?: string;
  /** Absent: the model of the workflow. */
  model?: string;
  temperature?: number;
  /** Limit of the answer, in tokens. */
  maxTokens?: number;
  /** JSON schema of the answer. Absent: the answer is a text. */
  outputSchema?: WrittenJson;
  /** Key of the answer in the context. */
  into: string;
  /** Limit of one inserted value, in characters. Absent: `defaultMaxChars`. */
  maxChars?: number;
  /** `mark`: the prompt marks a missing value. Absent: the node fails. */
  onMissing?: "mark";
  /** Limit for the models of one run of the node, in US dollars. */
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
