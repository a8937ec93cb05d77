import type { ChainEntry, NovaClient, WholeExecution } from "@nova/client";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useNova } from "../../api/nova.ts";
import { usePolled } from "../../api/queries.ts";
import { asRaw } from "../../json/raw.ts";
import { type Graph, parseGraph } from "../../parts/graph/definition.ts";
import { buildRunModel, listEntries, type RunModel, type Work } from "./run-model.ts";

const pageSize = 200;

/** Polls a run and its entries in separate requests, so that the server sends only the answer that changed. */
export function useRun(id: string, opened: ReadonlySet<string>) {
  const nova = useNova();
  const path = { id };
  const record = usePolled({
    queryKey: ["run", id],
    read: (header, signal) =>
      nova.api.GET("/executions/{id}", { params: { path, header, query: { references: "true" } }, signal }),
    isOver: ({ ended_at }) => ended_at !== null,
  });
  const isOver = record.data !== undefined && record.data.ended_at !== null;
  const chain = usePolled({
    queryKey: ["chain", id],
    async read(header, signal) {
      const params = { path, header, query: { limit: pageSize } };
      const first = await nova.api.GET("/executions/{id}/chain", { params, signal });
      if (!first.data?.next_cursor) return first;
      const query = { limit: pageSize, cursor: first.data.next_cursor };
      const rest = await Array.fromAsync(nova.list("/executions/{id}/chain", { path, query }));
      return { ...first, data: { items: [...first.data.items, ...rest], next_cursor: null } };
    },
    // The last entry of a run has the type `close`. After this entry, nothing changes.
    isOver: ({ items }) => isOver && items.at(-1)?.node_type === "close",
  });
  const { workflow, version } = record.data ?? {};
  const definition = useQuery({
    queryKey: ["definition", workflow, version],
    enabled: workflow !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => readGraph(nova, workflow as string, version as number),
  });
  const [items, graph] = [chain.data?.items, definition.data];
  const run = useWorkUntilEntered(record.data, items);
  const loadedRun = useMemo(
    () => (run && items && graph ? { run, entries: items, graph } : undefined),
    [run, items, graph],
  );
  const data = useModelWithChildren(loadedRun, opened);
  const error = chain.error ?? definition.error;
  const refetch = () => {
    for (const query of [chain, definition]) void query.refetch();
  };
  return { record, model: { data, error, isPending: error === null, refetch } };
}

/**
 * Adds to the run's list of nodes at work the nodes that an earlier list contained and that have no entry yet. The page
 * reads the list and the entries in separate requests, so both may lack a node that has just ended.
 */
function useWorkUntilEntered(run: WholeExecution | undefined, entries: readonly ChainEntry[] | undefined) {
  const before = useRef<{ id: string; nodes: readonly Work[] }>(undefined);
  return useMemo(() => {
    if (!run || !entries) return undefined;
    const known = before.current?.id === run.execution_id ? before.current.nodes : [];
    const listed = new Set(run.at_work.nodes.map(placeOf));
    const isClosed = entries.at(-1)?.node_type === "close";
    const entered = isClosed || known.length === 0 ? undefined : new Set(listEntries(entries).map(placeOf));
    const kept = entered ? known.filter((work) => !listed.has(placeOf(work)) && !entered.has(placeOf(work))) : [];
    const nodes = [...run.at_work.nodes, ...kept];
    before.current = { id: run.execution_id, nodes };
    return kept.length === 0
      ? run
      : { ...run, at_work: { ...run.at_work, count: run.at_work.count + kept.length, nodes } };
  }, [run, entries]);
}

function placeOf({ scope, seq }: Pick<ChainEntry, "scope" | "seq">): string {
  return `${scope}#${seq}`;
}

async function readGraph(nova: NovaClient, workflow: string, version: number): Promise<Graph> {
  return parseGraph(asRaw((await nova.workflows.get(workflow, { version })).definition));
}

interface LoadedRun {
  run: WholeExecution;
  entries: readonly ChainEntry[];
  graph: Graph;
}

const childPauseMs = 1_500;

/** Reads the unfolded child runs, and builds the model of a run with them. */
function useModelWithChildren(loadedRun: LoadedRun | undefined, opened: ReadonlySet<string>): RunModel | undefined {
  const nova = useNova();
  const queries = useQueryClient();
  const readSoFar = (execution: string) => queries.getQueryData<LoadedRun>(["child", execution]);
  const childIds = loadedRun ? listChildrenToRead(loadedRun, opened, readSoFar, "") : [];
  const read = useQueries({
    queries: childIds.map((execution) => ({
      queryKey: ["child", execution],
      structuralSharing: false,
      refetchInterval: ({ state }: { state: { data?: LoadedRun | undefined } }) =>
        state.data && state.data.run.ended_at !== null ? false : childPauseMs,
      queryFn: () => readChild(nova, execution),
    })),
    combine: (results) => results.map(({ data }) => data),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `read` signals changes of the query cache that `readSoFar` uses
  return useMemo(() => loadedRun && buildModel(loadedRun, opened, readSoFar, ""), [loadedRun, opened, read]);
}

async function readChild(nova: NovaClient, id: string): Promise<LoadedRun> {
  const params = { path: { id }, query: { references: "true" as const } };
  const [run, entries] = await Promise.all([
    nova.ask(nova.api.GET("/executions/{id}", { params })),
    Array.fromAsync(nova.executions.chain(id, { limit: pageSize })),
  ]);
  return { run, entries, graph: await readGraph(nova, run.workflow, run.version) };
}

type ReadSoFar = (execution: string) => LoadedRun | undefined;

/** Lists the unfolded nodes that run child runs, each with the id of its child run. */
function listOpenedChildren(
  { run, entries, graph }: LoadedRun,
  opened: ReadonlySet<string>,
  prefix: string,
): [string, string][] {
  if (opened.size === 0) return [];
  const { visits } = buildRunModel(run, entries, graph, new Map(), prefix);
  return visits.flatMap(({ node, entry, work }): [string, string][] => {
    const waited = work?.waits_for?.kind === "workflow" ? work.waits_for.execution_id : undefined;
    const execution = entry?.child?.execution_id ?? waited;
    return opened.has(node) && typeof execution === "string" ? [[node, execution]] : [];
  });
}

function listChildrenToRead(loaded: LoadedRun, opened: ReadonlySet<string>, read: ReadSoFar, prefix: string): string[] {
  return listOpenedChildren(loaded, opened, prefix).flatMap(([node, execution]) => {
    const child = read(execution);
    return [execution, ...(child ? listChildrenToRead(child, opened, read, `${node}/`) : [])];
  });
}

/**
 * Builds the model of a run with its child runs. If a node has several visits, the model contains the last child run of
 * this node.
 */
function buildModel(loaded: LoadedRun, opened: ReadonlySet<string>, read: ReadSoFar, prefix: string): RunModel {
  const children = new Map<string, RunModel>();
  for (const [node, execution] of listOpenedChildren(loaded, opened, prefix)) {
    const child = read(execution);
    if (child) children.set(node, buildModel(child, opened, read, `${node}/`));
  }
  return buildRunModel(loaded.run, loaded.entries, loaded.graph, children, prefix);
}
