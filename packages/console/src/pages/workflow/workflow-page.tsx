import type { ComponentType, JSX } from "react";
import { Link, useParams } from "wouter";
import { Foreign } from "../../parts/foreign.tsx";
import { later } from "../../parts/later.tsx";
import { Missing } from "../../parts/page-head.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { isMissing } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { GraphTab } from "./graph/graph-tab.tsx";
import { useWorkflow, type WholeWorkflow } from "./use-workflow.ts";
import { WorkflowHead } from "./workflow-head.tsx";
import "./workflow-page.css";

const words = texts.workflows;

type TabName = keyof typeof words.tabs;

/** What every tab gets. */
export interface TabProps {
  workflow: WholeWorkflow;
}

const tabs: Record<TabName, ComponentType<TabProps>> = {
  graph: GraphTab,
  start: later(async () => (await import("./start/start-tab.tsx")).StartTab),
  versions: later(async () => (await import("./versions/versions-tab.tsx")).VersionsTab),
  triggers: later(async () => (await import("./triggers/triggers-tab.tsx")).TriggersTab),
  analytics: later(async () => (await import("./analytics-tab.tsx")).AnalyticsTab),
  limits: later(async () => (await import("./limits-tab.tsx")).LimitsTab),
};
const names = Object.keys(tabs) as TabName[];

/** One workflow. Each of its views has an address. */
export function WorkflowPage(): JSX.Element {
  const { id, tab } = useParams<{ id: string; tab?: string }>();
  const at = names.find((name) => name === tab) ?? "graph";
  const asked = useWorkflow(id);
  const { data: workflow, error } = asked;
  if (isMissing(error)) return <Missing words={words} to="/workflows" />;
  if (error && !workflow) return <Failure error={error} onRetry={() => void asked.refetch()} />;
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

/** What stands against its running as one may think it does. */
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
          <Foreign text={words.failedBecause(version, reason ?? "")} />
        </p>
      )}
    </>
  );
}
