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
  inputs?: JsonObject;
  /** pip requirement lines of the sandbox template. */
  requirements: string[];
  /** Python modules that every node can import: path below `lib/` -> source. */
  lib: Record<string, string>;
  model?: string;
  nodes: Node[];
  edges: Edge[];
}

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

export type Node = StartNode | ActionNode | DecisionNode | EndNode;
export type NodeType = Node["type"];
export type TaskNode = ActionNode | DecisionNode;

interface NodeBase {
  id: string;
  name?: string;
  description?: string;
}

export interface StartNode extends NodeBase {
  type: "start";
}

export interface EndNode extends NodeBase {
  type: "end";
}

interface TaskNodeBase extends NodeBase {
  executor: Executor;
  /** Limit of one sandbox run, seconds (1 to 840). */
  timeoutSeconds: number;
  /** `true`: code that began is never run again; `false`: it may be; absent: it is not, but an AI attempt may follow. */
  effects?: boolean;
  /** Where a failed node goes instead of failing the run. */
  onError?: string;
  /** Runs of failing code in all (2 or 3); needs `effects: false`. */
  retry?: { attempts: number; delaySeconds: number };
  /** `fresh`: its own sandbox, used by no later node. */
  isolation?: "fresh";
}

export interface ActionNode extends TaskNodeBase {
  type: "action";
}

export interface DecisionNode extends TaskNodeBase {
  type: "decision";
}

export type Executor =
  | { kind: "code"; code: string; file?: string }
  | { kind: "prompt"; prompt: string; file?: string; model?: string }
  | { kind: "text"; prompt: string; file?: string; model?: string };

export type Condition = string | boolean | number;

export interface Edge {
  from: string;
  to: string;
  /** Only on edges that leave a decision; `"default"` catches the rest. */
  condition?: Condition;
}
