import type { Session, SessionOutputs } from "@nova/client";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { rawOf } from "../../json/answer.ts";

const calmMs = 5_000;
const busyMs = 800;

/** The session, as often as somebody may have changed it. */
export function useSession(id: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["session", id],
    refetchInterval: ({ state: { data } }) => (data && data.running.length > 0 ? busyMs : calmMs),
    queryFn: () => nova.sessions.get(id),
  });
}

/** What a node came to: JSON text, or the sentence of its failure. */
export interface OutputText {
  text: string | undefined;
  error: string | null;
}

interface Outputs {
  /** Undefined: they are not known yet. */
  outputs: ReadonlyMap<string, OutputText> | undefined;
  error: unknown;
}

/** By node; read again only where the session is another one. */
export function useOutputs({ session_id: id, revision }: Session): Outputs {
  const nova = useNova();
  const { data, error } = useQuery({
    queryKey: ["session", id, "outputs", revision],
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    queryFn: () => nova.sessions.outputs(id),
  });
  const outputs = useMemo(() => data && new Map(data.outputs.map((one) => [one.node_id, outputOf(one)])), [data]);
  return { outputs, error };
}

function outputOf({ output, error }: SessionOutputs["outputs"][number]): OutputText {
  return { text: output === null ? undefined : rawOf(output).text, error };
}

/** Something that changes the session: what is shown is read again, however it went. */
export function useAct<Given, Answer>(id: string, act: (given: Given) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => queries.invalidateQueries({ queryKey: ["session", id], exact: true }),
  });
}
