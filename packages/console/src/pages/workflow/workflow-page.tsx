import { type ComponentType, type JSX, useState } from "react";
import { Link, useParams } from "wouter";
import { Button } from "../../parts/button.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Missing } from "../../parts/page.tsx";
import { Failure, isNotFound, Loading, lazyComponent } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { GraphTab } from "./graph-tab.tsx";
import { ActivateDialog, useWorkflow, useWorkflowActions, type WholeWorkflow } from "./use-workflow.tsx";
import "./workflow-page.css";

const words = texts.workflows;

type TabName = keyof typeof words.tabs;

/** Properties of every tab. */
export interface TabProps {
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
export function WorkflowPage(): JSX.Element {
  const { id, tab } = useParams<{ id: string; tab?: string }>();
  const at = names.find((name) => name === tab) ?? "graph";
  const query = useWorkflow(id);
  const { data: workflow, error } = query;
  if (isNotFound(error)) return <Missing words={words} to="/workflows" />;
  if (error && !workflow) return <Failure error={error} onRetry={() => void query.refetch()} />;
  if (!workflow) return <Loading lines={10} />;
  const Tab = tabs[at];
  return (
    <>
      <WorkflowHead workflow={workflow} />
      <nav className="link-tabs" aria-label={words.views}>
        {names.map((name) => (
          <Link
            key={name}
            href={`/workflows/${id}${name === "graph" ? "" : `/${name}`}`}
            className="link-tab"
            aria-current={name === at ? "page" : undefined}
          >
            {words.tabs[name]}
          </Link>
        ))}
      </nav>
      <Notes workflow={workflow} />
      <Tab key={id} workflow={workflow} />
    </>
  );
}

/** Warnings: the workflow is paused, or its latest version failed. */
function Notes({ workflow: { version, status, reason, paused_at } }: TabProps): JSX.Element {
  return (
    <>
      {paused_at !== null && (
        <p className="workflow-note tone-wait">
          <b>{words.paused}</b> {words.pausedHint}
        </p>
      )}
      {status === "failed" && (
        <p className="workflow-note tone-bad" role="note">
          <UntrustedText text={words.failedBecause(version, reason ?? "")} />
        </p>
      )}
    </>
  );
}

/** The name of the workflow and its actions. */
export function WorkflowHead({ workflow }: { workflow: WholeWorkflow }): JSX.Element {
  const { id, name, active_version: active, previous_version: previous, paused_at } = workflow;
  const [query, setAsked] = useState<"pause" | "resume" | "rollback">();
  const acts = useWorkflowActions(workflow);
  const close = () => setAsked(undefined);
  return (
    <header className="page-head workflow-head">
      <Link href="/workflows" className="icon-button" aria-label={words.back} title={words.back}>
        <Icon name="back" />
      </Link>
      <h1 className="workflow-title">
        <UntrustedText text={name} />
      </h1>
      {name !== id && <span className="mono quiet workflow-id">{id}</span>}
      {active !== null && <span className="badge workflow-badge tone-ok">{words.version(active)}</span>}
      {paused_at !== null && <span className="badge workflow-badge tone-wait">{words.paused}</span>}
      <span className="page-head-end">
        <Link href={`/?workflow=${id}`} className="button">
          <Icon name="runs" size={14} />
          {words.runs}
        </Link>
        {previous !== null && (
          <Button icon="back" onClick={() => setAsked("rollback")}>
            {words.rollback(previous)}
          </Button>
        )}
        {paused_at === null ? (
          <Button icon="pause" onClick={() => setAsked("pause")}>
            {words.pause}
          </Button>
        ) : (
          <Button icon="play" onClick={() => setAsked("resume")}>
            {words.resume}
          </Button>
        )}
      </span>
      {query === "pause" && (
        <ConfirmDialog title={words.pauseTitle(id)} action={words.pause} onConfirm={acts.pause} onClose={close}>
          <p className="quiet">{words.pauseHint}</p>
        </ConfirmDialog>
      )}
      {query === "resume" && (
        <ConfirmDialog title={words.resumeTitle(id)} action={words.resume} onConfirm={acts.resume} onClose={close}>
          <p className="quiet">{words.resumeHint}</p>
        </ConfirmDialog>
      )}
      {query === "rollback" && previous !== null && (
        <ActivateDialog workflow={workflow} version={previous} onClose={close} />
      )}
    </header>
  );
}
