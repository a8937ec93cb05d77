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

/** From where on a draft has to run, and what it finds there. */
export interface Front {
  /** The first nodes: one, or the branches of a fork. */
  entries: string[];
  /** What becomes of keys that several of these branches set. */
  merge?: unknown;
  context: Context;
  /** The nodes before it, whose outcomes the context is made of, in order. */
  passed: string[];
}

/** What a node came to; undefined: nothing that counts. */
type Lookup = (node: string) => OutcomeAt | undefined;

/**
 * The first place on the main line whose outcome does not count, so that whatever lies before it need not run again, not
 * even to be taken over. Null: everything counts.
 */
export function frontOf(graph: Workflow, came: Lookup, context: Context): Front | null {
  return new Walk(graph, came).main(context);
}

/** What a node finds, made of whatever the nodes before it have come to. Null where no way leads to it. */
export function contextBefore(graph: Workflow, node: string, came: Lookup, context: Context): Front | null {
  return new Walk(graph, came, node).main(context);
}

/** One way from node to node: the main line, or a branch. */
interface Stretch {
  next: string | null;
  end: string | null;
  scope: string;
}

class Walk {
  readonly #graph: Workflow;
  readonly #forks: ReadonlyMap<string, Fork>;
  readonly #came: Lookup;
  readonly #target: string | undefined;
  /** Ids from which ways lead to the target, itself among them. */
  readonly #leading: ReadonlySet<string>;
  #passed: string[] = [];

  constructor(graph: Workflow, came: Lookup, target?: string) {
    this.#graph = graph;
    this.#forks = forksOf(graph);
    this.#came = came;
    this.#target = target;
    const points = graph.nodes.map((node) => ({ id: node.id, onError: onErrorOf(node) }));
    this.#leading = target === undefined ? new Set() : canReach(graphOf(points, graph.edges), [target]);
  }

  main(context: Context): Front | null {
    const start = startOf(this.#graph);
    if (!start) return null;
    const behind = this.#behind(start.id, { context, scope: "" });
    if ("entries" in behind) return behind;
    const found = this.#follow({ next: behind.next, end: null, scope: "" }, behind.context);
    return "entries" in found ? found : null;
  }

  /** Goes on until something does not count, or the stretch is over. */
  #follow(stretch: Stretch, before: Context): Front | { context: Context } {
    let context = before;
    let { next } = stretch;
    /** What the node behind one that failed finds, and no other. */
    let error: Member[] = [];
    while (next !== null && next !== stretch.end && this.#nodeOf(next)?.type !== "end") {
      const came = next === this.#target ? undefined : this.#came(next);
      if (next === this.#target || (!came && this.#target === undefined)) {
        const found = context.apply({ set: error, delete: [] }, `${stretch.scope}#${next}`);
        return { entries: [next], context: found, passed: [...this.#passed] };
      }
      if (came) {
        this.#passed.push(next);
        context = context.apply(came, `${stretch.scope}#${next}`);
      }
      error = came ? failureIn(came, next) : [];
      const behind = this.#behind(next, { context, scope: stretch.scope, ...(came && { came }) });
      if ("entries" in behind) return behind;
      ({ context, next } = behind);
    }
    return { context };
  }

  /** Behind a node, and behind the fork that it opens. */
  #behind(
    node: string,
    { context, scope, came }: { context: Context; scope: string; came?: OutcomeAt },
  ): Front | { context: Context; next: string | null } {
    const fork = came?.error ? undefined : this.#forks.get(node);
    if (!fork) return { context, next: this.#wayOn(node, came) };
    const { branches, next, merge } = fork;
    if (this.#target !== undefined && !(next !== null && this.#leading.has(next))) {
      const branch = branches.find(({ entry }) => this.#leading.has(entry));
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
    // The join of the run itself says what is wrong.
    if ("problem" in changes) return cut;
    return { context: context.apply(changes, `${scope}#${node}.join`), next };
  }

  #wayOn(id: string, came: OutcomeAt | undefined): string | null {
    const indexed = nodeIndex(this.#graph).get(id);
    if (!indexed) return null;
    const { node, edges } = indexed;
    const onError = onErrorOf(node);
    const leads = (label: string) => edges.find(({ condition }) => conditionLabel(condition) === label)?.to;
    const decided = came && came.decision !== null ? (leads(came.decision) ?? leads(defaultLabel)) : edges[0]?.to;
    const way = (came?.error ? onError : decided) ?? null;
    if (this.#target === undefined || (way !== null && this.#leading.has(way))) return way;
    return [...edges.map(({ to }) => to), onError ?? ""].find((to) => this.#leading.has(to)) ?? way;
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
