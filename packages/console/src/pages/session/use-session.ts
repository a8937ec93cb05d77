import type { NovaClient, Session, SessionOutputs } from "@nova/client";
import { keepPreviousData, replaceEqualDeep, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/raw.ts";

const calmMs = 5_000;
const busyMs = 800;

/** Polls the session, and polls more often while one of its runs is open. */
export function useSession(id: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["session", id],
    structuralSharing: keepNewer,
    refetchInterval: ({ state: { data } }) => (data && data.running.length > 0 ? busyMs : calmMs),
    queryFn: () => nova.sessions.get(id),
  });
}

/**
 * Returns the newer of two states of a session. A late answer to a poll may have an older revision than the page
 * already has.
 */
function keepNewer(before: unknown, next: unknown): unknown {
  const { revision = 0 } = (before ?? {}) as Partial<Session>;
  return (next as Session).revision < revision ? before : replaceEqualDeep(before, next);
}

/** The output of a node as JSON text, or the message of its error, with the version of the node. */
export type OutputText = ReturnType<typeof parseOutput>;

/** Reads the outputs by node, once per revision of the session. */
export function useOutputs({ session_id: id, revision }: Session) {
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

function parseOutput({ output, error, version }: SessionOutputs["outputs"][number]) {
  return { text: output === null ? undefined : asRaw(output).text, error, version };
}

/** Returns a function that reads the session again, but not its outputs. */
export function useSessionReload(id: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ["session", id], exact: true });
}

const publishPauseMs = 500;
const maxPublishTries = 120;

/** Publishes a draft, and waits for a minute until Step Functions has accepted or refused the version. */
export async function publishDraft(nova: NovaClient, id: string, request: { workflow?: string; name?: string } = {}) {
  const published = await nova.sessions.publish(id, request);
  for (let tries = 0; published.status === "publishing" && tries < maxPublishTries; tries++) {
    await new Promise((resolve) => setTimeout(resolve, publishPauseMs));
    const { version } = published;
    Object.assign(published, await nova.workflows.get(published.id, { version }));
  }
  return published;
}
