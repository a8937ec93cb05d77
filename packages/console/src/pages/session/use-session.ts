import { ApiProblem, type Session, type SessionOutputs } from "@nova/client";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/answer.ts";

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
  const outputs = useMemo(() => data && new Map(data.outputs.map((one) => [one.node_id, parseOutput(one)])), [data]);
  return { outputs, error };
}

function parseOutput({ output, error }: SessionOutputs["outputs"][number]): OutputText {
  return { text: output === null ? undefined : asRaw(output).text, error };
}

/** Something that changes the session: what is shown is read again, however it went. */
export function useSessionAction<Given, Answer>(id: string, act: (given: Given) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => queries.invalidateQueries({ queryKey: ["session", id], exact: true }),
  });
}

interface NodeChange<Given> {
  session: string;
  node: string;
  change(given: Given): Promise<unknown>;
  onDone(): void;
  /** Somebody was quicker: the page shows what they did by then, and the version that this has made. */
  onConflict(version: number): void;
}

/** A change of a node that names the version that was read. */
export function useNodeChange<Given>({ session, node, change, onDone, onConflict }: NodeChange<Given>) {
  const queries = useQueryClient();
  const readAgain = () => queries.invalidateQueries({ queryKey: ["session", session], exact: true });
  return useMutation({
    mutationFn: change,
    async onSuccess() {
      await readAgain();
      onDone();
    },
    async onError(error) {
      if (!(error instanceof ApiProblem && error.status === 409)) return;
      await readAgain();
      const { nodes = [] } = queries.getQueryData<Session>(["session", session]) ?? {};
      const now = nodes.find(({ node_id }) => node_id === node);
      if (now) onConflict(now.version);
    },
  });
}
