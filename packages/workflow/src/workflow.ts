import type { WrittenJson } from "./json/exact.ts";
import type { JsonObject } from "./json/value.ts";
import type { LockedCode } from "./lock/lock-file.ts";
import type { OnFailure } from "./on-failure.ts";
import type { Retry } from "./retry.ts";
import type { Trigger } from "./trigger.ts";

/**
 * A workflow as everything behind the parser sees it: normalised, self-contained, checked. What people write (the
 * JSON of a folder, with its aliases and its `.py` files) becomes this in `parseWorkflow`; its text decides the version.
 */
export interface Workflow {
  format: 1;
  /** Slug: lower case, digits and dashes. */
  id: string;
  name: string;
  description?: string;
  /** Limit of a whole run, seconds. */
  timeoutSeconds?: number;
  /** JSON schema of the initial context; a property may carry `secret: true`. */
  inputs?: WrittenJson;
  /** Business keys of its runs, by name: templates over the initial context. */
  labels?: Record<string, string>;
  /** pip requirement lines of the sandbox template. */
  requirements: string[];
  /** How long a sandbox that a run has left waits for the next one; 0: not at all. Absent: `defaultIdleSeconds`. */
  idleSeconds?: number;
  /** Sandboxes of each client that stay when this time is over. */
  warm?: number;
  /** Python modules that every node can import: path below `lib/` -> source. */
  lib: Record<string, string>;
  /** `false`: no node may ask a model. */
  models?: false;
  /** Of the prompt and text nodes that name none for a role. */
  model?: ModelChoice;
  /** What the models of one run may cost in all. */
  maxCostUsd?: number;
  /** Only code that a person has approved runs in prompt nodes. */
  approval?: "required";
  /** Code that models write is kept for each client apart. */
  scope?: "client";
  /** Code of prompt nodes that is locked beside the workflow, by node. */
  lock?: Record<string, LockedCode>;
  /** Names of the credentials that nodes get which name none themselves. Absent: all. */
  credentials?: string[];
  onFailure?: OnFailure;
  /** What starts runs from outside. */
  triggers?: Trigger[];
  nodes: Node[];
  edges: Edge[];
  given?: Given;
}

/** Of a part of a draft: what lies before it, and has run. */
export interface Given {
  /** Nodes in front of the part, whose outcomes an execution of it begins with, in their order. */
  passed: string[];
  /** These, and maps in the part whose outcomes are on record, without what they do. */
  nodes: Node[];
  /** Those that leave them. */
  edges: Edge[];
}

/** Long enough for a client whose runs follow each other, short enough to cost little behind the last one. */
export const defaultIdleSeconds = 60;

export type { JsonObject, JsonValue } from "./json/value.ts";

export type Node = StartNode | TaskNode | EndNode | MapNode | ApprovalNode | WaitNode | WorkflowNode;
export type NodeType = Node["type"];

interface NodeBase {
  id: string;
  name?: string;
  description?: string;
  /** Of a node with several edges out: what becomes of a key that several branches set. Absent: equal, or a failure. */
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
  /** Limit of one sandbox run, seconds (1 to 86,400). */
  timeoutSeconds: number;
  /** `true`: code that began is never run again; `false`: it may be; absent: it is not, but an AI attempt may follow. */
  effects?: boolean;
  /** Where a failed node goes instead of failing the run. */
  onError?: string;
  retry?: Retry;
  /** By name in the context: what nodes before have brought. */
  inputKeys?: Record<string, InputKey>;
  /** Names of the credentials that its code gets. Absent: as the workflow says. */
  credentials?: string[];
  /** `fresh`: its own sandbox, used by no later node. */
  isolation?: "fresh" | "execution";
}

/** A key of a node's results, or all of them; without a node, the key of one that leads directly here. */
export type InputKey = { node: string; key?: string } | { node?: never; key: string };

/** The part of a workflow that runs once for each item of a map. */
export interface Body {
  nodes: Node[];
  edges: Edge[];
}

export interface MapNode extends NodeBase {
  type: "map";
  /** Dot path of a list in the context. */
  items: string;
  /** Key under which an item's nodes find it; its number is under `index`. */
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
  /** What people are asked; `{{dot.path}}` stands for a value of the context. */
  message: string;
  /** JSON schema of the data that comes with an answer. */
  form?: WrittenJson;
  /** By choice: it takes the place of `form` for an answer with that choice. */
  forms?: Record<string, WrittenJson>;
  choices: string[];
  timeoutSeconds: number;
  /** Whom it concerns; for the event and for lists of tasks. */
  to: string[];
  /** Key of the answer: choice, data, by, at, from. */
  into: string;
  onError?: string;
}

export interface WaitNode extends NodeBase {
  type: "wait";
  for:
    | { kind: "seconds"; seconds: number }
    /** ISO time, or `{{dot.path}}` of one in the context. */
    | { kind: "until"; until: string }
    /**
     * An EventBridge event pattern, whose texts may be templates; the event that fits goes to `into`. `since`: one that
     * came after the start of the run counts, too.
     */
    | { kind: "event"; pattern: JsonObject; timeoutSeconds: number; into: string; since?: "start" };
  onError?: string;
}

/** Runs another workflow, and goes on when that has ended. */
export interface WorkflowNode extends NodeBase {
  type: "workflow";
  workflow: string;
  /** Absent: the latest one when the node begins. */
  version?: number;
  /** Key of the other's context -> dot path of the context here, or `"$"` for all of it. Absent: the whole context. */
  input?: Record<string, string>;
  /** Key of the context here -> dot path of the other's last context, or `"$"`. */
  output: Record<string, string>;
  onError?: string;
}

export type Executor = CodeExecutor | PromptExecutor | TextExecutor;

/** Code written by hand. */
export interface CodeExecutor {
  kind: "code";
  code: string;
  file?: string;
  /** `host` or `host:port`, sorted: all that it can connect to. Absent: all but its own machine. */
  allow?: string[];
}

/** A model writes the code. What the workflow says for all of them is merged in, but for `model` and `maxCostUsd`. */
export interface PromptExecutor {
  kind: "prompt";
  prompt: string;
  file?: string;
  model?: ModelChoice;
  /** Whether short samples of values may be shown to a model, besides names and types. */
  samples: boolean;
  /** What the models of one run of the node may cost. */
  maxCostUsd?: number;
  /** `host` or `host:port`, sorted: all that its code can connect to. */
  allow: string[];
}

/** A model writes the node's value, each time that it runs; there is no code. */
export interface TextExecutor {
  kind: "text";
  /** References in it, and in `system`, stand for what other nodes have brought. */
  prompt: string;
  file?: string;
  system?: string;
  /** Absent: as the workflow says. */
  model?: string;
  temperature?: number;
  /** Limit of the answer. */
  maxTokens?: number;
  /** JSON schema of the answer. Absent: a text. */
  outputSchema?: WrittenJson;
  /** Key of the answer in the context. */
  into: string;
  /** The most characters of one inserted value. Absent: `defaultMaxChars`. */
  maxChars?: number;
  /** What a reference without a value does. Absent: the node fails. */
  onMissing?: "mark";
  /** What the models of one run of the node may cost. */
  maxCostUsd?: number;
}

export type ModelRole = "text" | "input_analyzer" | "data_analyzer" | "code_generator" | "output_validator";

/** Ids of models; one id for every role is `{ default }`. */
export type ModelChoice = Partial<Record<ModelRole | "default", string>>;

export type Condition = string | boolean | number;

export interface Edge {
  from: string;
  to: string;
  /** Only on edges that leave a decision; `"default"` catches the rest. */
  condition?: Condition;
  /** Of an edge that leads back: how often it may be taken in a row. */
  max?: number;
}
