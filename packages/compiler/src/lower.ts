import {
  type AgentNode,
  conditionLabel,
  defaultLabel,
  defined,
  type Fork,
  forksOf,
  heedsRetryAfter,
  type IndexedNode,
  isLong,
  joinOf,
  type MapNode,
  maxChecks,
  nodeIndex,
  type Retry,
  startOf,
  type TaskNode,
  type Workflow,
} from "@nova/workflow";

/**
 * Builds the plan of a checked workflow, in which all edges are resolved. Throws `RangeError` for a workflow that the
 * checks should have refused.
 */
export function lower(workflow: Workflow): Plan {
  const start = startOf(workflow);
  if (!start) throw new RangeError(`workflow "${workflow.id}" has no start node`);
  const forks = forksOf(workflow);
  const inBranches = new Set([...forks.values()].flatMap(({ branches }) => branches.flatMap(({ nodes }) => nodes)));
  const main = workflow.nodes.filter(({ id }) => !inBranches.has(id)).map(({ id }) => id);
  return {
    comment: workflow.description ?? workflow.name,
    ...(workflow.timeoutSeconds !== undefined && { timeoutSeconds: workflow.timeoutSeconds }),
    main: lowering(nodeIndex(workflow), forks)(start.id, main, true),
  };
}

/** Returns a function that resolves the edges between the nodes of the main line, of a branch or of a body. */
function lowering(indexedNodes: ReadonlyMap<string, IndexedNode>, forks: ReadonlyMap<string, Fork>) {
  const seen = new Set<string>();
  return lowerFrame;

  function lowerFrame(entry: string, nodes: readonly string[], isMain: boolean): PlannedFrame {
    const inside: Inside = { nodes: new Set(nodes), isMain };
    return { entry, nodes: nodes.map((id) => lowerNode(id, inside)) };
  }

  function lowerNode(id: string, inside: Inside): PlannedNode {
    const indexed = indexedNodes.get(id);
    if (!indexed) throw new RangeError(`there is no node "${id}"`);
    if (seen.has(id)) throw new RangeError(`node "${id}" is in two branches`);
    seen.add(id);
    const { description, name } = indexed.node;
    return { id, ...defined({ comment: description ?? name }), ...waysOf(indexed, inside) };
  }

  function waysOf(indexed: IndexedNode, inside: Inside) {
    const { node } = indexed;
    const { type } = node;
    switch (type) {
      case "end":
        if (inside.isMain) return { type };
        throw new RangeError(`end node "${node.id}" is in a branch`);
      case "start":
        return { type, ...onward(indexed, inside) };
      case "action":
        return { type, ...taskRuns(node), ...onward(indexed, inside), ...resolveFailure(node, inside) };
      case "decision":
        return { type, ...taskRuns(node), ...branchesOf(indexed, inside), ...resolveFailure(node, inside) };
      case "approval": {
        const { timeoutSeconds } = node;
        return { type, timeoutSeconds, ...branchesOf(indexed, inside), ...resolveFailure(node, inside) };
      }
      case "wait": {
        const timeoutSeconds = node.for.kind === "event" ? node.for.timeoutSeconds : undefined;
        const ways = { ...onward(indexed, inside), ...resolveFailure(node, inside) };
        return { type, ...defined({ timeoutSeconds }), ...ways };
      }
      case "workflow":
        return { type, ...onward(indexed, inside), ...resolveFailure(node, inside) };
      case "agent":
        return { type, ...lowerAgent(node), ...onward(indexed, inside), ...resolveFailure(node, inside) };
      case "map":
        return { type, ...lowerMap(node), ...onward(indexed, inside), ...resolveFailure(node, inside) };
    }
  }

  function lowerMap({ id, maxConcurrency, toleratedFailures }: MapNode) {
    const [body] = lowerBranches(forks.get(id));
    if (!body) throw new RangeError(`map "${id}" has no body`);
    return { maxConcurrency, toleratesFailures: toleratedFailures !== undefined, body };
  }

  function lowerAgent({ maxConcurrency, executor, id, retry }: AgentNode) {
    const tools = lowerBranches(forks.get(id));
    // If compiled code fails, the agent needs one more visit, which is no step.
    const maxSteps = executor.maxSteps + (executor.compiled ? 1 : 0);
    return { maxConcurrency, maxSteps, tools, ...defined({ retry }) };
  }

  function lowerBranches(fork: Fork | undefined): PlannedFrame[] {
    return fork?.branches.map(({ entry, nodes }) => lowerFrame(entry, nodes, false)) ?? [];
  }

  function onward(indexed: IndexedNode, inside: Inside): { next: string | null; fork?: PlannedFork } {
    const { node } = indexed;
    const fork = forks.get("body" in node ? joinOf(node.id) : node.id);
    const next = nextOf(indexed, fork, inside);
    return fork ? { next, fork: { node: fork.node, branches: lowerBranches(fork) } } : { next };
  }
}

/** The nodes of the main line, of the branch or of the body whose edges `lower` resolves. */
interface Inside {
  nodes: ReadonlySet<string>;
  isMain: boolean;
}

/**
 * Returns the target of an edge if the target is one of these nodes. For an edge that leaves a branch or a body,
 * returns null, because the branch or item ends there.
 */
function resolveTarget(target: string, { nodes, isMain }: Inside): Target {
  if (nodes.has(target)) return target;
  if (isMain) throw new RangeError(`an edge leads to "${target}", which is in a branch or does not exist`);
  return null;
}

/**
 * Returns the target after a node that does not decide. If branches start at the node, returns the target after the
 * join of these branches.
 */
function nextOf({ node, edges, body }: IndexedNode, fork: Fork | undefined, inside: Inside): Target {
  if (fork && fork.next === null && inside.isMain) {
    throw new RangeError(`node "${node.id}" fans out to branches that never meet`);
  }
  if (fork) return fork.next === null ? null : resolveTarget(fork.next, inside);
  const [edge] = edges;
  if (edge) return resolveTarget(edge.to, inside);
  if (body === null) throw new RangeError(`node "${node.id}" has no edge to go on along`);
  return null;
}

function resolveFailure(node: { onError?: string }, inside: Inside): { onError?: Target } {
  return node.onError === undefined ? {} : { onError: resolveTarget(node.onError, inside) };
}

/** Returns the branches of a decision or approval, each with its label and its target. */
function branchesOf({ node, edges }: IndexedNode, inside: Inside): Pick<Decides, "branches" | "otherwise"> {
  const labelled = edges.map(({ condition, to, max }) =>
    defined({ label: conditionLabel(condition), target: resolveTarget(to, inside), max }),
  );
  if (labelled.length === 0) throw new RangeError(`node "${node.id}" decides and has no edges`);
  const otherwise = labelled.find((branch) => branch.label === defaultLabel);
  const branches = labelled.filter((branch) => branch !== otherwise);
  return { branches, ...(otherwise && { otherwise: otherwise.target }) };
}

/**
 * How often code without effects may run for one entry. Such code runs again after the loss of its sandbox or Lambda.
 */
const maxAttempts = 3;

/**
 * Returns the `retry` of a node, and in `looks` how often its task may run. The task of long code runs once for each
 * check. If a separate state waits for the next attempt, the task runs once more after each wait.
 */
function taskRuns(node: TaskNode): Pick<PlannedTask, "looks" | "retry"> {
  const { retry, effects } = node;
  const runs = Math.max(retry?.attempts ?? 1, effects === false ? maxAttempts : 1);
  const waits = heedsRetryAfter(node) ? runs - 1 : undefined;
  return defined({ looks: isLong(node) ? maxChecks(node) * runs + runs - 1 : waits, retry });
}

/** A workflow with resolved edges. It is independent of the Amazon States Language. */
export interface Plan {
  comment: string;
  timeoutSeconds?: number;
  main: PlannedFrame;
}

/** Connected nodes: the main line, a branch of a fork, or the body of a map. */
export interface PlannedFrame {
  entry: string;
  nodes: PlannedNode[];
}

export type PlannedNode =
  | PlannedStart
  | PlannedAction
  | PlannedDecision
  | PlannedMap
  | PlannedAgent
  | PlannedApproval
  | PlannedWait
  | PlannedWorkflow
  | PlannedEnd;

/**
 * The node that follows; null at the end of a branch or an item. The main line has no null targets, because it ends in
 * end nodes.
 */
export type Target = string | null;

interface Planned {
  id: string;
  comment?: string;
}

/** A node with one next node, or with parallel branches. */
export interface HasNext extends Planned {
  /** The next node. If branches start at this node, `next` is the node after the join of these branches. */
  next: Target;
  fork?: PlannedFork;
}

export interface PlannedFork {
  /**
   * The name of the fork in the chain of work: the node at which the branches start, or the join of a map with several
   * edges.
   */
  node: string;
  branches: PlannedFrame[];
}

export interface Failable {
  onError?: Target;
}

/** A decision node or an approval. The decision in the entry of the node chooses the branch. */
export interface Decides extends Planned, Failable {
  branches: Branch[];
  otherwise?: Target;
}

export interface Branch {
  /** The value of the entry's `decision` that leads along this branch. */
  label: string;
  target: Target;
  /**
   * Present if the branch leads back to an earlier node. After this number of rounds of the loop, the engine takes
   * another branch.
   */
  max?: number;
}

export interface PlannedTask extends Planned {
  /**
   * How often the task may run again: to check long code, or after a wait for the next attempt. Absent if one task runs
   * the code to its end.
   */
  looks?: number;
  retry?: Retry;
}

export type PlannedStart = HasNext & { type: "start" };
export type PlannedAction = PlannedTask & HasNext & Failable & { type: "action" };
export type PlannedDecision = PlannedTask & Decides & { type: "decision" };
export type PlannedApproval = Decides & { type: "approval"; timeoutSeconds: number };
/**
 * With `timeoutSeconds`, a wait for an event that ends after this time at the latest. Without it, a wait until a time
 * that the engine returns.
 */
export type PlannedWait = HasNext & Failable & { type: "wait"; timeoutSeconds?: number };
export type PlannedWorkflow = HasNext & Failable & { type: "workflow" };
export type PlannedEnd = Planned & { type: "end" };

export interface PlannedMap extends HasNext, Failable {
  type: "map";
  body: PlannedFrame;
  maxConcurrency: number;
  /** True if a failed item does not stop the other items. The join then decides whether too many items failed. */
  toleratesFailures: boolean;
}

export interface PlannedAgent extends HasNext, Failable {
  type: "agent";
  /** The nodes of each tool. A call runs the nodes of one tool. */
  tools: PlannedFrame[];
  maxConcurrency: number;
  /** How often a run may visit the agent again, and also the largest number of calls in one visit. */
  maxSteps: number;
  retry?: Retry;
}

/** Returns the nodes to which loops lead back, each once. Nodes in branches and bodies are not included. */
export function loopTargets({ nodes }: PlannedFrame): string[] {
  const ways = nodes.flatMap((node) => ("branches" in node ? node.branches : []));
  const agents = nodes.flatMap(({ type, id }) => (type === "agent" ? [id] : []));
  const targets = ways.flatMap(({ target, max }) => (target === null || max === undefined ? [] : [target]));
  return [...new Set([...targets, ...agents])];
}
