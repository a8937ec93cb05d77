import { branchScope, type Context, type Member, mergeBranches, type OutcomeAt } from "@nova/engine";
import {
  canReach,
  conditionLabel,
  defaultLabel,
  type Fork,
  forksOf,
  graphOf,
  nodeIndex,
  onErrorOf,
  startOf,
  type Workflow,
} from "@nova/workflow";

export interface Front {
  /** The first nodes to run: one node, or the branches of a fork. */
  entries: string[];
  /** How the join merges keys that several of these branches set. */
  merge?: unknown;
  context: Context;
  /** The nodes before those in `entries`, in order. Their outcomes form the context. */
  passed: string[];
}

type Lookup = (node: string) => OutcomeAt | undefined;

/**
 * Finds the first node or fork outside branches for which `findOutcome` has no outcome. The nodes before it need not
 * run. Returns null if all nodes have outcomes.
 */
export function findFront(graph: Workflow, findOutcome: Lookup, context: Context): Front | null {
  return new Walk(graph, findOutcome).main(context);
}

/** Builds the context of a node from the outcomes of the nodes before it. Returns null if no edge leads to the node. */
export function buildContextBefore(graph: Workflow, node: string, findOutcome: Lookup, context: Context): Front | null {
  return new Walk(graph, findOutcome, node).main(context);
}

interface Segment {
  next: string | null;
  end: string | null;
  scope: string;
}

class Walk {
  readonly #graph: Workflow;
  readonly #forks: ReadonlyMap<string, Fork>;
  readonly #findOutcome: Lookup;
  readonly #target: string | undefined;
  /** Ids of the node whose context is wanted (the target), and of all nodes from which the target can be reached. */
  readonly #ancestors: ReadonlySet<string>;
  #passed: string[] = [];

  constructor(graph: Workflow, findOutcome: Lookup, target?: string) {
    this.#graph = graph;
    this.#forks = forksOf(graph);
    this.#findOutcome = findOutcome;
    this.#target = target;
    const points = graph.nodes.map((node) => ({ id: node.id, onError: onErrorOf(node) }));
    this.#ancestors = target === undefined ? new Set() : canReach(graphOf(points, graph.edges), [target]);
  }

  main(context: Context): Front | null {
    const start = startOf(this.#graph);
    if (!start) return null;
    const rest = this.#continueAfter(start.id, { context, scope: "" });
    if ("entries" in rest) return rest;
    const found = this.#follow({ next: rest.next, end: null, scope: "" }, rest.context);
    return "entries" in found ? found : null;
  }

  /**
   * Follows the nodes of a branch or of the main line. It stops at their end, at the first node without an outcome, or
   * at the node whose context is wanted.
   */
  #follow(segment: Segment, before: Context): Front | { context: Context } {
    let context = before;
    let { next } = segment;
    /** The error of the previous node, if that node failed. Only the next node sees this error. */
    let error: Member[] = [];
    while (next !== null && next !== segment.end && this.#nodeOf(next)?.type !== "end") {
      const outcome = next === this.#target ? undefined : this.#findOutcome(next);
      if (next === this.#target || (!outcome && this.#target === undefined)) {
        const found = context.apply({ set: error, delete: [] }, `${segment.scope}#${next}`);
        return { entries: [next], context: found, passed: [...this.#passed] };
      }
      if (outcome) {
        this.#passed.push(next);
        context = context.apply(outcome, `${segment.scope}#${next}`);
      }
      error = outcome ? failureIn(outcome, next) : [];
      const rest = this.#continueAfter(next, { context, scope: segment.scope, ...(outcome && { outcome }) });
      if ("entries" in rest) return rest;
      ({ context, next } = rest);
    }
    return { context };
  }

  /**
   * Returns the next node after a node. If the node opens a fork, the function follows the branches and returns the
   * node after the join.
   */
  #continueAfter(
    node: string,
    { context, scope, outcome }: { context: Context; scope: string; outcome?: OutcomeAt },
  ): Front | { context: Context; next: string | null } {
    const fork = outcome?.error ? undefined : this.#forks.get(node);
    if (!fork) return { context, next: this.#nextNode(node, outcome) };
    const { branches, next, merge } = fork;
    if (this.#target !== undefined && !(next !== null && this.#ancestors.has(next))) {
      const branch = branches.find(({ entry }) => this.#ancestors.has(entry));
      if (branch) return { context, next: branch.entry };
    }
    const passed = this.#passed;
    const entries = branches.map(({ entry }) => entry);
    const cut: Front = { entries, merge: this.#nodeOf(node)?.merge, context, passed };
    this.#passed = [...passed];
    const done = [];
    for (const { entry } of branches) {
      const inner = branchScope({ scope, seq: this.#passed.length }, node, entry);
      const followed = this.#follow({ next: entry, end: next, scope: inner }, context);
      if ("entries" in followed) return cut;
      done.push({ name: entry, scope: inner, context: followed.context });
    }
    const how = this.#target === undefined ? merge : merge === "unique" ? "last" : merge;
    const changes = mergeBranches(context, done, { node, merge: how });
    // Branches that cannot be merged run again, so that the join reports the problem.
    if ("problem" in changes) return cut;
    return { context: context.apply(changes, `${scope}#${node}.join`), next };
  }

  #nextNode(id: string, outcome: OutcomeAt | undefined): string | null {
    const indexed = nodeIndex(this.#graph).get(id);
    if (!indexed) return null;
    const { node, edges } = indexed;
    const onError = onErrorOf(node);
    const leads = (label: string) => edges.find(({ condition }) => conditionLabel(condition) === label)?.to;
    const decided =
      outcome && outcome.decision !== null ? (leads(outcome.decision) ?? leads(defaultLabel)) : edges[0]?.to;
    const next = (outcome?.error ? onError : decided) ?? null;
    if (this.#target === undefined || (next !== null && this.#ancestors.has(next))) return next;
    return [...edges.map(({ to }) => to), onError ?? ""].find((to) => this.#ancestors.has(to)) ?? next;
  }

  #nodeOf(id: string) {
    return nodeIndex(this.#graph).get(id)?.node;
  }
}

function failureIn({ error }: OutcomeAt, id: string): Member[] {
  if (!error) return [];
  const { message, traceback, node = id } = error.failure;
  return [{ key: "error", json: JSON.stringify({ node, class: error.class, message, traceback }) }];
}
