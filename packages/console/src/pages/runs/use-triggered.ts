import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import type { Filters } from "./filters.ts";

export interface Triggered {
  /** Triggers that have started runs lately. */
  names: readonly string[];
  byExecution: ReadonlyMap<string, string>;
}

/** Deliveries that are looked at: a run does not say itself what has started it. */
const maxDeliveries = 200;

/** Which trigger started which run, as far as the newest deliveries say it. */
export function useTriggered({ workflow, client }: Filters): Triggered {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["deliveries", "started", workflow, client],
    staleTime: 15_000,
    async queryFn() {
      const asked = { ...(workflow && { workflow }), ...(client && { client }) };
      const query = { ...asked, status: "started" as const, limit: maxDeliveries };
      return (await nova.ask(nova.api.GET("/deliveries", { params: { query } }))).items;
    },
  });
  return useMemo(() => {
    const started = (data ?? []).flatMap(({ execution_id, type, trigger }) =>
      execution_id === null ? [] : [[execution_id, trigger ?? type] as const],
    );
    return { names: [...new Set(started.map(([, name]) => name))].sort(), byExecution: new Map(started) };
  }, [data]);
}
