import { useQuery } from "@tanstack/react-query";
import { useNova } from "../../../api/nova.ts";

const pauseMs = 15_000;

export function useSchedules(workflow: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["schedules", workflow],
    refetchInterval: pauseMs,
    queryFn: () => Array.fromAsync(nova.list("/schedules", { query: { workflow } })),
  });
}
