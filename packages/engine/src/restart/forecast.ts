import { type Fork, forksOf, joinOf, nodeIndex, onErrorOf, startOf } from "@nova/workflow";
import type { SourcePlan } from "../chain/head.ts";
import { branchScope } from "../chain/scope.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { defaultNext, followChoice, type NodeDefinition, nextNodeId } from "../protocol/definition.ts";
import { counts } from "../protocol/recorded-source.ts";
import type { Source, SourceLink } from "./source.ts";

/** What an execution with a plan will do, as far as that can be known. Places are named as `SourceLink.name`. */
export interface Forecast {
  /** Outcomes that are taken over. */
  reused: string[];
  /** Nodes that run, and all that may follow them; `each[*].find` where the items are not known yet. */
  runs: string[];
  /** Of these, those that have run before and are not declared to be without effects. */
  again: string[];
  /** Why the version does not fit what is to be taken over, a sentence each. */
  misfits: string[];
  /** What those that run have cost in the source, and how long their code has taken. */
  estimate: { cost_usd: number; execution_time_ms: number };
}

/** Follows the source through a version as the execution will. */
export function forecast(source: Source, version: WorkflowVersion, plan: SourcePlan): Forecast {
  return new Walk(source, version, plan).told();
}

/** Nodes one behind the other: the main line, a branch, or an item. */
interface Stretch {
  /** Of the names of its nodes. */
  prefix: string;
  /** The node that comes behind it; null at the end of an item, and of the main line. */
  end: string | null;
}

/** Entries that are no step of a workflow. */
const marks: ReadonlySet<string> = new Set(["start", "end", "close"]);

class Walk {
  readonly #source: Source;
  readonly #version: WorkflowVersion;
  readonly #forks: ReadonlyMap<string, Fork>;
  readonly #plan: SourcePlan;
  readonly #reused: string[] = [];
  /** By name: the node. */
  readonly #runs = new Map<string, string>();
  readonly #misfits: string[] = [];

  constructor(source: Source, version: WorkflowVersion, plan: SourcePlan) {
    this.#source = source;
    this.#version = version;
    this.#forks = forksOf(version.workflow);
    this.#plan = plan;
  }

  told(): Forecast {
    const main = { prefix: "", end: null };
    const links = this.#source.scope("");
    const start = startOf(this.#version.workflow);
    const definition = start && this.#definition(start.id);
    const behind =
      definition && this.#throughForks(main, links, { at: 0, next: defaultNext(definition) }, definition.node.id);
    if (behind) this.#follow(main, links, behind);
    const runs = [...this.#runs.keys()];
    const before = runs.flatMap((name) => this.#source.links.get(name) ?? []);
    return {
      ...{ reused: this.#reused, runs, again: runs.filter((name) => this.#runsAgain(name)), misfits: this.#misfits },
      estimate: {
        cost_usd: before.reduce((sum, { spent }) => sum + (spent?.cost_usd ?? 0), 0),
        execution_time_ms: before.reduce((sum, { head }) => sum + (head.code === null ? 0 : head.execution_time_ms), 0),
      },
    };
  }

  /** Goes through a stretch behind a link of it; answers whether the rest of it is taken over. */
  #follow(stretch: Stretch, links: readonly SourceLink[], { at, next }: Place): boolean {
    while (next !== null && next !== stretch.end) {
      const definition = this.#definition(next);
      if (!definition || marks.has(definition.node.type)) return true;
      const found = links.findIndex(({ head }, index) => index > at && head.node_id === definition.node.id);
      const link = links[found];
      if (!link) {
        const onward: string | null | undefined = at + 1 < links.length ? this.#onlyWay(definition) : undefined;
        if (onward === undefined) return this.#runFrom(stretch, next);
        this.#runs.set(stretch.prefix + next, next);
        next = onward;
        continue;
      }
      const dropped = links.slice(at + 1, found).filter(({ head }) => !marks.has(head.node_type));
      this.#misfits.push(...dropped.map(noStep));
      const isCounted = counts(this.#plan, link.head, link.isTolerated);
      const way = isCounted ? this.#positionAfter(definition, link, links[found - 1]) : undefined;
      if (way === undefined) return this.#runFrom(stretch, next);
      this.#reused.push(link.name);
      const isFork = link.head.status === "success";
      const behind: Place | undefined = isFork
        ? this.#throughForks(stretch, links, { at: found, next: way }, definition.node.id)
        : { at: found, next: way };
      if (!behind) return false;
      ({ at, next } = behind);
    }
    return true;
  }

  /** The place behind a link and the forks that it opens; undefined where not all of their branches are taken over. */
  #throughForks(stretch: Stretch, links: readonly SourceLink[], from: Place, node: string): Place | undefined {
    let place = from;
    for (let fork = this.#forks.get(node); fork; fork = this.#forks.get(joinOf(fork.node))) {
      const [link, join] = [links[place.at], links[place.at + 1]];
      const isWhole = link !== undefined && this.#branches(stretch, fork, link);
      const isSettled =
        join?.head.node_id === joinOf(fork.node) && (join.head.status === "success" || join.isTolerated);
      if (isWhole && isSettled && join.head.status === "failed") return { at: place.at + 1, next: null };
      if (!isWhole || !isSettled) {
        this.#runFrom(stretch, fork.next);
        this.#runFrom(stretch, this.#rescueOf(fork.node));
        return undefined;
      }
      if (fork.kind === "parallel") this.#noteGone(fork, link);
      place = { at: place.at + 1, next: nextNodeId(this.#version, fork.next) };
    }
    return place;
  }

  /** Where a map leads that fails. */
  #rescueOf(fork: string): string | null {
    const { node } = this.#definition(fork) ?? {};
    return (node && "body" in node && onErrorOf(node)) || null;
  }

  /** What the join is to be taken over with came of branches that the version has not. */
  #noteGone({ node, branches }: Fork, { head }: SourceLink): void {
    const gone = this.#source.branches(head).filter((branch) => !branches.some(({ entry }) => entry === branch));
    const first = gone.flatMap((branch) => this.#source.scope(branchScope(head, node, branch)).slice(0, 1));
    this.#misfits.push(...first.map(noStep));
  }

  #branches({ prefix }: Stretch, { node, kind, branches, next }: Fork, { head, name }: SourceLink): boolean {
    const items = Array.from({ length: head.count ?? 0 }, (_, index) => String(index));
    const ways =
      kind === "parallel"
        ? branches.map(({ entry }) => ({ branch: entry, entry, stretch: { prefix, end: next } }))
        : items.map((branch) => ({
            ...{ branch, entry: branches[0]?.entry ?? null },
            stretch: { prefix: `${name}[${branch}].`, end: null },
          }));
    const followed = ways.map(({ branch, entry, stretch }) =>
      this.#follow(stretch, this.#source.scope(branchScope(head, node, branch)), { at: -1, next: entry }),
    );
    return followed.every(Boolean);
  }

  /** Where the version goes on behind an outcome of the source; undefined where it cannot, which is noted. */
  #positionAfter(
    definition: NodeDefinition,
    { head, name, isTolerated }: SourceLink,
    before: SourceLink | undefined,
  ): string | null | undefined {
    const { node } = definition;
    if (node.type !== head.node_type) {
      const was = `and it was one of type ${head.node_type}`;
      this.#misfits.push(`${name}: the version has a node of type ${node.type} here, ${was}`);
      return undefined;
    }
    if (head.status === "failed") return nextNodeId(this.#version, onErrorOf(node)) ?? (isTolerated ? null : undefined);
    if (head.decision_result === null) return defaultNext(definition);
    const way = followChoice(definition, head.decision_result, before?.head.loops);
    if (way) return way.decision === head.decision_result ? way.next : undefined;
    this.#misfits.push(`${name}: the version has no edge for ${JSON.stringify(head.decision_result)} here`);
    return undefined;
  }

  /** Of a node that neither decides nor forks. */
  #onlyWay(definition: NodeDefinition): string | null | undefined {
    const { node, edges } = definition;
    return edges.length > 1 || this.#forks.has(node.id) ? undefined : defaultNext(definition);
  }

  /** Notes a node and all that may follow it in the stretch. */
  #runFrom(stretch: Stretch, first: string | null): false {
    const ways = new Set([first]);
    for (const id of ways) {
      if (id === null || id === stretch.end) continue;
      const definition = this.#definition(id);
      for (const { entry } of definition ? [] : (this.#forks.get(id)?.branches ?? [])) ways.add(entry);
      if (!definition || marks.has(definition.node.type)) continue;
      const { node, edges } = definition;
      this.#runs.set(stretch.prefix + id, id);
      for (const { to } of edges) ways.add(to);
      ways.add(onErrorOf(node) ?? null);
      const body = "body" in node ? this.#forks.get(id)?.branches[0]?.entry : undefined;
      if (body !== undefined) this.#runFrom({ prefix: `${stretch.prefix}${id}[*].`, end: null }, body);
    }
    return false;
  }

  #runsAgain(name: string): boolean {
    const node = this.#definition(this.#runs.get(name) ?? "")?.node;
    if (!node || !("executor" in node)) return false;
    const isSame = ({ head, name: other }: SourceLink) =>
      name.includes("[*]") ? head.node_id === node.id : other === name;
    return node.effects !== false && this.#source.links.values().some(isSame);
  }

  #definition(id: string): NodeDefinition | undefined {
    const found = nodeIndex(this.#version.workflow).get(id);
    return found && { version: this.#version, ...found };
  }
}

function noStep({ name }: SourceLink): string {
  return `${name}: no step of the version is this one`;
}

/** Behind which link of a stretch the walk is, and to which node it goes on. */
interface Place {
  at: number;
  next: string | null;
}
