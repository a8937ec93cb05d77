import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { rawOf } from "../../json/answer.ts";
import { Raw } from "../../json/raw.ts";
import { type Graph, graphOf } from "../../parts/graph/definition.ts";
import { type NodeText, nodesIn } from "./node-text.ts";

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

/** What is in a definition. */
export interface Parts {
  /** JSON. */
  text: string;
  graph: Graph;
  nodes: ReadonlyMap<string, NodeText>;
}

/** Parsed again only where the text is another one. */
export function useParts({ definition }: WholeWorkflow): Parts {
  const { text } = rawOf(definition);
  return useMemo(() => partsOf(text), [text]);
}

export function partsOf(text: string): Parts {
  return { text, graph: graphOf(new Raw(text)), nodes: nodesIn(text) };
}
