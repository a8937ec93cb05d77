import type { ChainEntry, WholeExecution } from "@nova/client";
import * as Tabs from "@radix-ui/react-tabs";
import { useQuery } from "@tanstack/react-query";
import type { JSX, ReactNode } from "react";
import { Link } from "wouter";
import { useNova } from "../../../api/nova.ts";
import { rawOf } from "../../../json/answer.ts";
import { CodeLines } from "../../../parts/code-lines.tsx";
import { CodeView } from "../../../parts/code-view.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { allNodes, type Graph } from "../../../parts/graph/definition.ts";
import { Icon } from "../../../parts/icon.tsx";
import { Empty, Failure, Loading } from "../../../parts/states.tsx";
import { durationText, Time } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import { looks } from "../graph/state-look.ts";
import type { RunModel } from "../model/run-model.ts";
import type { Visit } from "../model/visits.ts";
import { ContextDiff, WholeContext } from "./context-diff.tsx";
import { Details } from "./details.tsx";
import { LiveLog } from "./live-log.tsx";
import { Steps } from "./steps.tsx";
import { VisitList } from "./visit-list.tsx";
import "../../../parts/tabs.css";
import "./panel.css";

interface PanelProps {
  run: WholeExecution;
  model: RunModel;
  node: string | undefined;
  visit: Visit | undefined;
  onSelect(visit: Visit): void;
  actions(visit: Visit): ReactNode;
}

/** One link of the chain, in full. */
export function Panel({ run, model, node, visit, onSelect, actions }: PanelProps): JSX.Element {
  if (!visit) {
    return (
      <aside className="panel" aria-label={texts.run.detail}>
        {node === undefined ? <Known run={run} /> : <Empty icon="flow" title={node} hint={texts.run.notRun} />}
      </aside>
    );
  }
  const visits = model.nodes.get(visit.node)?.visits ?? [];
  return (
    <aside className="panel" aria-label={texts.run.detail}>
      <header className="panel-head">
        <div className="panel-title">
          <h2>
            <Foreign text={visit.id} />
          </h2>
          <VisitBadge visit={visit} />
          <span className="page-head-end">{actions(visit)}</span>
        </div>
        <div className="panel-times quiet">
          {visit.entry && <Time at={visit.entry.timestamp} />}
          {visit.entry && <span>{durationText(visit.entry.execution_time_ms)}</span>}
        </div>
      </header>
      {visits.length > 1 && <VisitList visits={visits} visit={visit} onSelect={onSelect} />}
      {visit.entry ? (
        <LinkView
          key={visit.key}
          execution={visit.execution}
          entry={visit.entry}
          credentials={credentialsOf(model.graph, visit.node)}
        />
      ) : (
        <LiveLog key={visit.key} visit={visit} />
      )}
    </aside>
  );
}

/** What the run knows by now; at its end, that is its result. */
function Known({ run }: { run: WholeExecution }): JSX.Element {
  return (
    <>
      <header className="panel-head">
        <h2>{run.ended_at === null ? texts.run.knows : texts.run.result}</h2>
        <p className="quiet">{run.status === "queued" ? texts.run.queued : texts.run.pick}</p>
      </header>
      <div className="tab-content">
        <WholeContext context={rawOf(run.context)} home={{ execution: run.execution_id }} />
      </div>
    </>
  );
}

function VisitBadge({ visit: { state } }: { visit: Visit }): JSX.Element {
  const { tone, icon, says } = looks[state];
  return (
    <span className={`badge tone-${tone}`}>
      {icon ? <Icon name={icon} size={12} /> : <span className={`mark tone-${tone} mark-running`} />}
      {says}
    </span>
  );
}

/** By their names alone: nobody but the code sees more of them. */
function credentialsOf(graph: Graph, place: string): readonly string[] | undefined {
  return allNodes(graph).find(({ id }) => id === place)?.credentials;
}

/** What was recorded never changes: it is read once. */
interface LinkProps {
  execution: string;
  entry: ChainEntry;
  credentials: readonly string[] | undefined;
}

function LinkView({ execution, entry, credentials }: LinkProps): JSX.Element {
  const nova = useNova();
  const { seq, scope, hash } = entry;
  const link = useQuery({
    queryKey: ["link", execution, scope, seq, hash],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn() {
      const path = { id: execution, seq };
      const query = { full: "true", references: "true", ...(scope !== "" && { scope }) } as const;
      return nova.ask(nova.api.GET("/executions/{id}/chain/{seq}", { params: { path, query } }));
    },
  });
  return (
    <>
      {entry.error_message !== null && (
        <p className="panel-error" role="note">
          <b>{entry.error_class}</b> <Foreign text={entry.error_message} />
        </p>
      )}
      {link.isPending ? (
        <Loading lines={6} />
      ) : link.error ? (
        <Failure error={link.error} onRetry={() => void link.refetch()} />
      ) : (
        <LinkTabs execution={execution} entry={link.data} credentials={credentials} />
      )}
    </>
  );
}

function LinkTabs({ execution, entry, credentials }: LinkProps): JSX.Element {
  const tabs: [name: string, label: string, content: () => JSX.Element][] = [
    ["code", texts.run.code, () => <Code entry={entry} code={entry.code_executed} />],
    ["context", texts.run.context, () => <Contexts execution={execution} entry={entry} />],
    ["logs", texts.run.logs, () => <Prints logs={entry.logs} />],
    ["details", texts.run.raw, () => <Details entry={entry} credentials={credentials} />],
  ];
  const { steps } = entry;
  if (steps.length > 0)
    tabs.splice(3, 0, ["steps", `${texts.run.steps} ${steps.length}`, () => <Steps steps={steps} />]);
  return (
    <Tabs.Root className="tabs" defaultValue={entry.code_executed ? "code" : "context"}>
      <Tabs.List className="tab-list" aria-label={texts.run.detail}>
        {tabs.map(([name, label]) => (
          <Tabs.Trigger key={name} value={name} className="tab">
            {label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map(([name, , content]) => (
        <Tabs.Content key={name} value={name} className="tab-content">
          {content()}
        </Tabs.Content>
      ))}
      {entry.child && (
        <Link href={`/runs/${entry.child.execution_id}`} className="button panel-child">
          {texts.run.open} {entry.child.execution_id}
        </Link>
      )}
    </Tabs.Root>
  );
}

function Contexts({ execution, entry }: { execution: string; entry: ChainEntry }): JSX.Element {
  const { input_context: before, output_result: after } = entry;
  const home = { execution };
  return <ContextDiff before={before ? rawOf(before) : null} after={after ? rawOf(after) : null} home={home} />;
}

function Prints({ logs }: { logs: string | null | undefined }): JSX.Element {
  if (!logs) return <p className="quiet">{texts.run.noLogs}</p>;
  return (
    <pre className="prints">
      <Foreign text={logs} />
    </pre>
  );
}

/** The last place in the node's own file that the traceback names. */
const placePattern = /^ {2}File "([^"\n]*)", line (\d+)/gm;

function markedLine({ traceback, node_id }: ChainEntry): number | undefined {
  const places = Array.from((traceback ?? "").matchAll(placePattern));
  const own = places.findLast(([, file]) => file === `${node_id}.py`) ?? places.at(-1);
  return own && Number(own[2]);
}

function Code({ entry, code }: { entry: ChainEntry; code: string | null | undefined }): JSX.Element {
  if (!code) return <p className="quiet">{texts.run.noCode}</p>;
  return (
    <div className="panel-code">
      {entry.error_message === null ? (
        <CodeView code={code} label={texts.run.code} />
      ) : (
        <CodeLines code={code} marked={markedLine(entry)} note={entry.error_message} />
      )}
      {entry.traceback && (
        <details className="traceback">
          <summary>{texts.run.traceback}</summary>
          <pre className="prints">
            <Foreign text={entry.traceback} />
          </pre>
        </details>
      )}
    </div>
  );
}
