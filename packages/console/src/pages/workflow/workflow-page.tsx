import { useMutation } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { PageHead } from "../../parts/page.tsx";
import { ErrorNote, lazyComponent, QueryView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { GraphTab } from "./graph-tab.tsx";
import { ActivateButton, useWorkflow, useWorkflowReload, type WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows;

type TabName = keyof typeof words.tabs;

interface TabProps {
  workflow: WholeWorkflow;
}

const tabs: Record<TabName, ComponentType<TabProps>> = {
  graph: GraphTab,
  start: lazyComponent(async () => (await import("./start-tab.tsx")).StartTab),
  versions: lazyComponent(async () => (await import("./versions-tab.tsx")).VersionsTab),
  triggers: lazyComponent(async () => (await import("./triggers-tab.tsx")).TriggersTab),
  analytics: lazyComponent(async () => (await import("./analytics-tab.tsx")).AnalyticsTab),
  limits: lazyComponent(async () => (await import("./limits-tab.tsx")).LimitsTab),
};
const names = Object.keys(tabs) as TabName[];

/** One workflow. Each tab has its own address. */
export function WorkflowPage() {
  const { id = "", tab } = useParams<{ id: string; tab?: string }>();
  const at = names.find((name) => name === tab) ?? "graph";
  const query = useWorkflow(id);
  const Tab = tabs[at];
  return (
    <QueryView query={query} lines={10} missing={{ words, to: "/workflows" }}>
      {(workflow) => (
        <>
          <WorkflowHead workflow={workflow} />
          <nav className="tab-list" aria-label={words.views}>
            {names.map((name) => (
              <Link
                key={name}
                href={`/workflows/${id}${name === "graph" ? "" : `/${name}`}`}
                className="tab"
                aria-current={name === at ? "page" : undefined}
              >
                {words.tabs[name]}
              </Link>
            ))}
          </nav>
          <Notes workflow={workflow} />
          <Tab key={id} workflow={workflow} />
        </>
      )}
    </QueryView>
  );
}

/** Warnings: the workflow is paused, or its latest version failed. */
function Notes({ workflow: { version, status, reason, paused_at } }: TabProps) {
  return (
    <>
      {paused_at !== null && (
        <p className="workflow-note notice tone-wait">
          <b>{words.paused}</b> {words.pausedHint}
        </p>
      )}
      {status === "failed" && (
        <p className="workflow-note notice tone-bad" role="note">
          <UntrustedText text={words.failedBecause(version, reason ?? "")} />
        </p>
      )}
    </>
  );
}

/** Opens a session with the active version, in which the user changes the workflow and publishes it. */
function EditButton({ id }: { id: string }) {
  const { sessions } = useNova();
  const [, go] = useLocation();
  const open = useMutation({
    mutationFn: () => sessions.create({ workflow: id }),
    onSuccess: ({ session_id }) => go(`/sessions/${session_id}`),
  });
  return (
    <>
      <ErrorNote error={open.error} />
      <Button icon="change" disabled={open.isPending} onClick={() => open.mutate()}>
        {words.edit}
      </Button>
    </>
  );
}

function WorkflowHead({ workflow }: TabProps) {
  const { id, name, active_version: active, previous_version: previous, paused_at } = workflow;
  const { api, ask } = useNova();
  const reload = useWorkflowReload(id);
  const act = paused_at === null ? "pause" : "resume";
  return (
    <PageHead
      title={<UntrustedText text={name} />}
      back={{ to: "/workflows", label: words.back }}
      className="page-head-acts"
      end={
        <>
          <EditButton id={id} />
          <Link href={`/?workflow=${id}`} className="button">
            <Icon name="runs" size={14} />
            {texts.nav.runs}
          </Link>
          {previous !== null && (
            <ActivateButton workflow={workflow} version={previous} icon="back" label={words.rollback(previous)} />
          )}
          <ConfirmButton
            key={act}
            icon={act === "pause" ? "pause" : "play"}
            label={words[act]}
            title={words[`${act}Title`](id)}
            hint={words[`${act}Hint`]}
            onConfirm={() => ask(api.POST(`/workflows/{id}/${act}`, { params: { path: { id } } })).then(reload)}
          />
        </>
      }
    >
      {name !== id && <span className="mono quiet wide">{id}</span>}
      {active !== null && <Badge tone="ok" text={words.version(active)} />}
      {paused_at !== null && <Badge tone="wait" text={words.paused} />}
    </PageHead>
  );
}
