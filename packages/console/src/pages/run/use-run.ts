import type { ChainEntry, WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { usePolled } from "../../api/polled.ts";
import { rawOf } from "../../json/answer.ts";
import { graphOf } from "../../parts/graph/definition.ts";
import { type RunModel, runModel } from "./model/run-model.ts";

export interface RunState {
  run: WholeExecution | undefined;
  entries: readonly ChainEntry[];
  model: RunModel | undefined;
  error: unknown;
  retry(): void;
}

const pageSize = 200;

/** A run as it goes on. Its links are asked for beside it, and neither is sent again before it has changed. */
export function useRun(id: string): RunState {
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
      const first = await nova.api.GET("/executions/{id}/chain", {
        params: { path, header, query: { limit: pageSize } },
        signal,
      });
      if (!first.data?.next_cursor) return first;
      const query = { limit: pageSize, cursor: first.data.next_cursor };
      const rest = await Array.fromAsync(nova.list("/executions/{id}/chain", { path, query }));
      return { ...first, data: { items: [...first.data.items, ...rest], next_cursor: null } };
    },
    // The close is the last link: only then nothing comes any more.
    isOver: ({ items }) => isOver && items.at(-1)?.node_type === "close",
  });
  const { workflow, version } = record.data ?? {};
  const definition = useQuery({
    queryKey: ["definition", workflow, version],
    enabled: workflow !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () =>
      graphOf(rawOf((await nova.workflows.get(workflow as string, { version: version as number })).definition)),
  });
  const [run, items, graph] = [record.data, chain.data?.items, definition.data];
  const model = useMemo(() => (run && items && graph ? runModel(run, items, graph) : undefined), [run, items, graph]);
  return {
    ...{ run, entries: items ?? [], model },
    error: record.error ?? chain.error ?? definition.error,
    retry() {
      for (const query of [record, chain, definition]) void query.refetch();
    },
  };
}
