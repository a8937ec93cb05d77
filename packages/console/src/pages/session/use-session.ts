import { ApiProblem, type Session, type SessionOutputs } from "@nova/client";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/raw.ts";

const calmMs = 5_000;
const busyMs = 800;

/** Reads the session, and more often while it runs. */
export function useSession(id: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["session", id],
    refetchInterval: ({ state: { data } }) => (data && data.running.length > 0 ? busyMs : calmMs),
    queryFn: () => nova.sessions.get(id),
  });
}

/** The output of a node as JSON text, or the message of its error. */
export interface OutputText {
  text: string | undefined;
  error: string | null;
}

interface Outputs {
  /** Undefined while they load. */
  outputs: ReadonlyMap<string, OutputText> | undefined;
  error: unknown;
}

/** Reads the outputs by node, once per revision of the session. */
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

/** An action that changes the session. The session is read again even if the action fails. */
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
  /** Called with the current version if another user changed the node first, after the page shows that change. */
  onConflict(version: number): void;
}

/** A change that is refused unless the node still has the version that the user saw. */
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
