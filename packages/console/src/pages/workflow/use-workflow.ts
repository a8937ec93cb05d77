import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { rawOf } from "../../json/answer.ts";
import { type Parts, partsOf } from "./definition-parts.ts";

export type WholeWorkflow = Schemas["WholeWorkflow"];

const pauseMs = 10_000;

/** The workflow with a definition: the latest one, or that of a version. */
export function useWorkflow(id: string, version?: number) {
  const nova = useNova();
  return useQuery({
    queryKey: ["workflow", id, version ?? null],
    refetchInterval: pauseMs,
    queryFn: () => nova.workflows.get(id, version === undefined ? {} : { version }),
  });
}

/** Parsed again only where the text is another one. */
export function useParts({ definition }: WholeWorkflow): Parts {
  const { text } = rawOf(definition);
  return useMemo(() => partsOf(text), [text]);
}
