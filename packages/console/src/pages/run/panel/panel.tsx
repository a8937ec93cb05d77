import type { ChainEntry, WholeExecution } from "@nova/client";
import * as Tabs from "@radix-ui/react-tabs";
import { useQuery } from "@tanstack/react-query";
import { type JSX, type ReactNode, useMemo } from "react";
import { Link } from "wouter";
import { useNova } from "../../../api/nova.ts";
import { rawOf } from "../../../json/answer.ts";
import { CodeLines } from "../../../parts/code-lines.tsx";
import { Foreign } from "../../../parts/foreign.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Empty, Failure, Loading } from "../../../parts/states.tsx";
import { durationText, Time } from "../../../parts/time.tsx";
import { texts } from "../../../texts.ts";
import { looks } from "../graph/state-look.ts";
import type { RunModel } from "../model/run-model.ts";
import { byUrgency, itemOf, type Visit } from "../model/visits.ts";
import { ContextDiff } from "./context-diff.tsx";
import { Details } from "./details.tsx";
import { LiveLog } from "./live-log.tsx";
import { Steps } from "./steps.tsx";
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
    const hint = node === undefined ? texts.run.pick : texts.run.notRun;
    return (
      <aside className="panel" aria-label={texts.run.detail}>
        <Empty icon="flow" title={node ?? texts.run.detail} hint={hint} />
      </aside>
    );
  }
  const visits = model.nodes.get(visit.node)?.visits ?? [];
  return (
    <aside className="panel" aria-label={texts.run.detail}>
      <header className="panel-head">
        <div className="panel-title">
          <h2>
            <Foreign text={visit.node} />
          </h2>
          <VisitBadge visit={visit} />
          <span className="page-head-end">{actions(visit)}</span>
        </div>
        <div className="panel-times quiet">
          {visit.entry && <Time at={visit.entry.timestamp} />}
          {visit.entry && <span>{durationText(visit.entry.execution_time_ms)}</span>}
          {visits.length > 1 && <VisitPicker visits={visits} visit={visit} onSelect={onSelect} />}
        </div>
      </header>
      {visit.entry ? (
        <LinkView key={visit.key} run={run} entry={visit.entry} />
      ) : (
        <LiveLog execution={run.execution_id} visit={visit} />
      )}
    </aside>
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

const maxPicked = 500;

function VisitPicker({
  visits,
  visit,
  onSelect,
}: {
  visits: readonly Visit[];
  visit: Visit;
  onSelect(visit: Visit): void;
}): JSX.Element {
  const sorted = useMemo(() => visits.toSorted(byUrgency).slice(0, maxPicked), [visits]);
  return (
    <select
      className="visit-picker"
      aria-label={texts.run.chooseVisit}
      value={visit.key}
      onChange={(event) => {
        const chosen = visits.find(({ key }) => key === event.target.value);
        if (chosen) onSelect(chosen);
      }}
    >
      {sorted.map((one) => (
        <option key={one.key} value={one.key}>
          {nameOf(one, visits)} – {looks[one.state].says}
        </option>
      ))}
    </select>
  );
}

function nameOf(visit: Visit, visits: readonly Visit[]): string {
  const item = itemOf(visit.scope);
  return item === undefined ? texts.run.visit(visits.indexOf(visit) + 1) : texts.run.item(item);
}

/** What was recorded never changes: it is read once. */
function LinkView({ run, entry }: { run: WholeExecution; entry: ChainEntry }): JSX.Element {
  const nova = useNova();
  const { seq, scope, hash } = entry;
  const link = useQuery({
    queryKey: ["link", run.execution_id, scope, seq, hash],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => nova.executions.link(run.execution_id, seq, { scope }),
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
        <LinkTabs run={run} entry={link.data} />
      )}
    </>
  );
}

function LinkTabs({ run, entry }: { run: WholeExecution; entry: ChainEntry }): JSX.Element {
  const tabs: [name: string, label: string, content: () => JSX.Element][] = [
    ["code", texts.run.code, () => <Code entry={entry} code={entry.code_executed} />],
    ["context", texts.run.context, () => <Contexts run={run} entry={entry} />],
    ["logs", texts.run.logs, () => <Prints logs={entry.logs} />],
    ["details", texts.run.raw, () => <Details entry={entry} />],
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

function Contexts({
  run,
  entry: { input_context: before, output_result: after },
}: {
  run: WholeExecution;
  entry: ChainEntry;
}): JSX.Element {
  const home = { execution: run.execution_id };
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
      <CodeLines code={code} marked={markedLine(entry)} note={entry.error_message ?? undefined} />
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
