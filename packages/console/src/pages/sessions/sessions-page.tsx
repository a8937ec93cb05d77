import type { Schemas, SessionOptions } from "@nova/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs, usePages, useWorkflowIds } from "../../api/queries.ts";
import { parseObject } from "../../json/raw.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../parts/field.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page.tsx";
import { Empty, LoadMore, QueryView } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { RemoveSession } from "../session/dialogs.tsx";
import { countStates } from "../session/draft.ts";

const words = texts.sessions;
/** Small, because the page reads each listed session. */
const pageSize = 25;

type Item = Schemas["SessionItem"];

/** All sessions, newest first. */
export function SessionsPage(): JSX.Element {
  const [{ client }, change] = useAddress(["client"]);
  const sessions = useSessions(client);
  const clients = useClientSlugs();
  const [dialog, setDialog] = useState<"new" | Item>();
  const close = () => setDialog(undefined);
  return (
    <>
      <PageHead
        title={words.title}
        end={
          <Button icon="plus" tone="main" onClick={() => setDialog("new")}>
            {words.create}
          </Button>
        }
      >
        {sessions.data && (
          <span className="quiet">{`${words.count(sessions.data.length)}${sessions.hasNextPage ? "+" : ""}`}</span>
        )}
      </PageHead>
      {clients.length > 1 && (
        <div className="filter-bar" role="search">
          <FilterSelect
            label={words.columns.client}
            value={client}
            values={clients.map((one) => [one, one] as const)}
            onChange={(one) => change({ client: one })}
          />
        </div>
      )}
      <div className="page-body">
        <QueryView query={sessions}>
          {(items) =>
            items.length === 0 ? (
              <Empty icon="change" title={words.empty} hint={words.emptyHint} />
            ) : (
              <SessionTable items={items} onRemove={setDialog} />
            )
          }
        </QueryView>
        <LoadMore query={sessions} label={words.more} />
      </div>
      {dialog === "new" && <NewSession onClose={close} />}
      {typeof dialog === "object" && <RemoveSession session={dialog} onClose={close} />}
    </>
  );
}

function useSessions(client: string | undefined) {
  const nova = useNova();
  return usePages({
    queryKey: ["sessions", client ?? null],
    read: (cursor, signal) => {
      const query = { limit: pageSize, ...(client !== undefined && { client }), ...cursor };
      return nova.ask(nova.api.GET("/sessions", { params: { query }, signal }));
    },
  });
}

function SessionTable({ items, onRemove }: { items: readonly Item[]; onRemove(item: Item): void }): JSX.Element {
  const { columns } = words;
  return (
    <div className="card">
      <Table
        items={items}
        keyOf={({ session_id }) => session_id}
        columns={[
          {
            label: columns.name,
            show: ({ session_id, name }) => (
              <Link href={`/sessions/${session_id}`}>
                <UntrustedText text={name} />
              </Link>
            ),
          },
          { label: columns.client, show: ({ client_slug }) => client_slug, look: "wide mono quiet" },
          { label: columns.workflow, show: ({ session_id }) => <WorkflowOf id={session_id} />, look: "wide" },
          { label: columns.nodes, show: ({ session_id }) => <NodesOf id={session_id} /> },
          { label: columns.until, show: ({ expires_at }) => <Time at={expires_at} />, look: "wide fixed quiet" },
          {
            label: columns.actions,
            show: (item) => <IconButton icon="bin" label={words.removeOne(item.name)} onClick={() => onRemove(item)} />,
            look: "sheet-end",
          },
        ]}
      />
    </div>
  );
}

function useSessionDetails(id: string) {
  const nova = useNova();
  return useQuery({ queryKey: ["session", id], queryFn: () => nova.sessions.get(id) });
}

function WorkflowOf({ id }: { id: string }): ReactNode {
  const { data } = useSessionDetails(id);
  return data && (data.workflow ?? <span className="quiet">{words.ownDraft}</span>);
}

function NodesOf({ id }: { id: string }): ReactNode {
  const { data, error } = useSessionDetails(id);
  if (!data) return <span className="quiet">{error ? words.nodesLost : "…"}</span>;
  const { stale, fresh } = countStates(data.nodes);
  return words.counts(stale, fresh);
}

/** Creates an empty session, or a session from a workflow. */
export function NewSession({ onClose }: { onClose(): void }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [workflows, clients] = [useWorkflowIds(), useClientSlugs()];
  const [name, setName] = useState("");
  const [workflow, setWorkflow] = useState("");
  const [client, setClient] = useState("");
  const [text, setText] = useState("{}");
  const context = parseObject(text);
  const create = useMutation({
    mutationFn: (options: SessionOptions) => nova.sessions.create(options),
    async onSuccess({ session_id }) {
      await queries.invalidateQueries({ queryKey: ["sessions"] });
      go(`/sessions/${session_id}`);
    },
  });
  const submit = () => {
    if (!context) return;
    create.mutate({
      ...(name.trim() !== "" && { name: name.trim() }),
      ...(workflow !== "" && { workflow }),
      ...(client !== "" && { client_slug: client }),
      context,
    });
  };
  const { form } = words;
  const choices = (first: string, values: readonly string[]) =>
    [["", first], ...values.map((one) => [one, one] as const)] as const;
  return (
    <FormDialog
      title={words.create}
      onClose={onClose}
      isPending={create.isPending}
      error={create.error}
      onSubmit={submit}
    >
      <SelectField label={form.from} value={workflow} values={choices(form.empty, workflows)} onChange={setWorkflow} />
      <TextField label={form.name} hint={form.nameHint} value={name} maxLength={200} autoFocus onChange={setName} />
      {clients.length > 1 && (
        <SelectField
          label={form.client}
          value={client}
          values={choices(form.usualClient, clients)}
          onChange={setClient}
        />
      )}
      <TextArea
        label={form.context}
        hint={form.contextHint}
        error={context ? undefined : form.misfit}
        value={text}
        rows={4}
        onChange={setText}
      />
    </FormDialog>
  );
}
