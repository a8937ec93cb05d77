import type { Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { describeCount, useClientSlugs, usePages } from "../../api/queries.ts";
import { FilterBar, toChoices, useAddress } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page.tsx";
import { ListView, LoadMore } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { RemoveSession } from "../session/dialogs.tsx";
import { countStates } from "../session/draft.ts";
import { NewWorkflowButton } from "../workflows/new-workflow.tsx";

const words = texts.sessions;
/** Number of sessions that are listed at first. It is small, because the page reads each listed session. */
const pageSize = 25;

type Item = Schemas["SessionItem"];

export function SessionsPage() {
  const [filters, change] = useAddress(["client"]);
  const sessions = usePages("/sessions", { query: { client: filters.client, limit: pageSize } });
  const clients = useClientSlugs();
  return (
    <>
      <PageHead
        title={texts.nav.sessions}
        note={describeCount(sessions, sessions.data?.length ?? 0, words.count)}
        end={<NewWorkflowButton isMain />}
      />
      {clients.length > 1 && (
        <FilterBar
          filters={filters}
          change={change}
          choices={[["client", texts.runs.columns.client, toChoices(clients)]]}
        />
      )}
      <div className="page-body">
        <ListView query={sessions} icon="change" words={words}>
          {(items) => (
            <div className="card">
              <Table items={items} columns={columns} keyOf={({ session_id }) => session_id} />
            </div>
          )}
        </ListView>
        <LoadMore query={sessions} label={words.more} />
      </div>
    </>
  );
}

const columns: readonly Column<Item>[] = [
  [
    words.columns.name,
    ({ session_id, name }) => (
      <Link href={`/sessions/${session_id}`}>
        <UntrustedText text={name} />
      </Link>
    ),
  ],
  [texts.runs.columns.client, ({ client_slug }) => client_slug, "wide mono quiet"],
  [texts.runs.columns.workflow, ({ session_id }) => <WorkflowOf id={session_id} />, "wide"],
  [words.columns.nodes, ({ session_id }) => <NodesOf id={session_id} />],
  [words.columns.until, ({ expires_at }) => <Time at={expires_at} />, "wide fixed quiet"],
  [words.columns.actions, (item) => <RemoveSession session={item} />, "sheet-end"],
];

function useSessionDetails(id: string) {
  const nova = useNova();
  return useQuery({ queryKey: ["session", id], queryFn: () => nova.sessions.get(id) });
}

function WorkflowOf({ id }: { id: string }): ReactNode {
  const { data } = useSessionDetails(id);
  if (!data) return null;
  return data.workflow === null ? <span className="quiet">{words.ownDraft}</span> : <WorkflowName id={data.workflow} />;
}

function NodesOf({ id }: { id: string }): ReactNode {
  const { data, error } = useSessionDetails(id);
  if (!data) return <span className="quiet">{error ? words.nodesLost : "…"}</span>;
  const { stale, fresh } = countStates(data.nodes);
  return words.counts(stale, fresh);
}
