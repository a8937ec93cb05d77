import { useQuery } from "@tanstack/react-query";
import { useNova } from "./nova.ts";

const staleMs = 60_000;
const none: readonly string[] = [];

/** Ids of all workflows, for what can be chosen from them; none while they are not known. */
export function useWorkflowIds(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["workflows", "ids"],
    staleTime: staleMs,
    queryFn: async () => (await Array.fromAsync(nova.workflows.list())).map(({ id }) => id),
  });
  return data ?? none;
}

/** Slugs of all clients that the key reaches. */
export function useClientSlugs(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["clients", "slugs"],
    staleTime: staleMs,
    queryFn: async () => (await Array.fromAsync(nova.clients.list())).map(({ slug }) => slug),
  });
  return data ?? none;
}

/** Triggers for which something has come in lately. */
export function useTriggerIds(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["triggers", "ids"],
    staleTime: staleMs,
    async queryFn() {
      const params = { query: { status: "started" as const, limit: 200 } };
      const { items } = await nova.ask(nova.api.GET("/deliveries", { params }));
      return [...new Set(items.flatMap(({ trigger }) => trigger ?? []))];
    },
  });
  return data ?? none;
}
