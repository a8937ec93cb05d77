import type { WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/raw.ts";
import { type Graph, listNodes } from "../../parts/graph/definition.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty } from "../../parts/states.tsx";
import { formatDuration, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { EntryView, WholeContext } from "./entry-view.tsx";
import { stateLooks } from "./run-graph.tsx";
import { compareVisits, findItem, isReused, type RunModel, type Visit } from "./run-model.ts";
import "./panel.css";

interface PanelProps {
  run: WholeExecution;
  model: RunModel;
  node: string | undefined;
  visit: Visit | undefined;
  onSelect(visit: Visit): void;
  actions(visit: Visit): ReactNode;
}

/** One entry of the chain in full. */
export function Panel({ run, model, node, visit, onSelect, actions }: PanelProps) {
  if (!visit) {
    return (
      <aside className="panel" aria-label={texts.run.detail}>
        {node === undefined ? <RunContext run={run} /> : <Empty icon="flow" title={node} hint={texts.run.notRun} />}
      </aside>
    );
  }
  const visits = model.nodes.get(visit.node)?.visits ?? [];
  return (
    <aside className="panel" aria-label={texts.run.detail}>
      <header className="panel-head">
        <div className="panel-title">
          <UntrustedText as="h2" text={visit.id} />
          <VisitBadge visit={visit} />
          <span className="page-head-end">{actions(visit)}</span>
        </div>
        <div className="panel-times quiet">
          {visit.entry && <Time at={visit.entry.timestamp} />}
          {visit.entry && <span>{formatDuration(visit.entry.execution_time_ms)}</span>}
        </div>
      </header>
      {visits.length > 1 && <VisitList visits={visits} visit={visit} onSelect={onSelect} />}
      {visit.entry ? (
        <EntryView
          key={visit.key}
          execution={visit.execution}
          entry={visit.entry}
          credentials={findCredentials(model.graph, visit.node)}
        />
      ) : (
        <LiveLog key={visit.key} visit={visit} />
      )}
    </aside>
  );
}

/** The current context of the run, which is its result at the end. */
function RunContext({ run }: { run: WholeExecution }) {
  return (
    <>
      <header className="panel-head">
        <h2>{run.ended_at === null ? texts.run.knows : texts.run.result}</h2>
        <p className="quiet">{run.status === "queued" ? texts.run.queued : texts.run.pick}</p>
      </header>
      <div className="tab-content">
        <WholeContext context={asRaw(run.context)} home={{ execution: run.execution_id }} />
      </div>
    </>
  );
}

function VisitBadge({ visit: { state } }: { visit: Visit }) {
  const { tone, icon, label } = stateLooks[state];
  return (
    <span className={`badge tone-${tone}`}>
      {icon ? <Icon name={icon} size={12} /> : <span className={`mark tone-${tone} mark-running`} />}
      {label}
    </span>
  );
}

/** Finds the names of the node's credentials. Only code can read their values. */
function findCredentials(graph: Graph, place: string): readonly string[] | undefined {
  return listNodes(graph).find(({ id }) => id === place)?.credentials;
}

interface VisitListProps {
  visits: readonly Visit[];
  visit: Visit;
  onSelect(visit: Visit): void;
}

const height = 26;

/** A list of all visits of a node, or of all items of its map; failures first. */
function VisitList({ visits, visit, onSelect }: VisitListProps) {
  const sorted = useMemo(() => visits.toSorted(compareVisits), [visits]);
  const numbers = useMemo(() => new Map(visits.map(({ key }, index) => [key, index + 1])), [visits]);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 6,
  });
  const at = sorted.findIndex(({ key }) => key === visit.key);
  const scrollTo = useRef(rows.scrollToIndex);
  scrollTo.current = rows.scrollToIndex;
  useEffect(() => {
    if (at >= 0) scrollTo.current(at, { align: "auto" });
  }, [at]);
  return (
    <section ref={scroller} className="visit-list" aria-label={texts.run.chooseVisit}>
      <div className="visit-all" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const one = sorted[index] as Visit;
          const { tone, label } = stateLooks[one.state];
          const item = findItem(one.scope);
          return (
            <button
              key={one.key}
              type="button"
              className={`visit tone-${tone}`}
              aria-pressed={one.key === visit.key}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => onSelect(one)}
            >
              <i className="timeline-dot" />
              <span>{item === undefined ? texts.run.visit(numbers.get(one.key) ?? 0) : texts.run.item(item)}</span>
              <span className="visit-why">
                {one.entry?.error_message ?? (isReused(one) ? texts.run.reusedShort : label)}
              </span>
              {one.entry && <span className="quiet">{formatDuration(one.entry.execution_time_ms)}</span>}
            </button>
          );
        })}
      </div>
    </section>
  );
}

const pauseMs = 1_000;
/** The server keeps the same amount. */
const maxKept = 64 * 1024;

/** The live output of running code. */
function LiveLog({ visit }: { visit: Visit }) {
  const nova = useNova();
  const { execution, seq, scope, work, state } = visit;
  const [text, setText] = useState("");
  const after = useRef<string | null>(null);
  const runs = state === "running";
  useQuery({
    queryKey: ["log", execution, scope, seq],
    enabled: runs,
    refetchInterval: pauseMs,
    gcTime: 0,
    async queryFn() {
      const query = { ...(scope !== "" && { scope }), ...(after.current !== null && { after: after.current }) };
      const params = { path: { id: execution, seq }, query };
      const printed = await nova.ask(nova.api.GET("/executions/{id}/chain/{seq}/logs", { params }));
      if (printed.next !== null) after.current = printed.next;
      if (printed.text !== "") setText((before) => (before + printed.text).slice(-maxKept));
      return null;
    },
  });
  const end = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (text !== "") end.current?.scrollTo({ top: end.current.scrollHeight });
  }, [text]);
  const wait = work?.waits_for;
  return (
    <div className="tab-content">
      {wait && (
        <p className="panel-wait">
          {texts.run.waitsFor[wait.kind]}
          {typeof wait.message === "string" && <UntrustedText as="b" text={wait.message} />}
          {wait.kind === "approval" && typeof wait.task_id === "string" && (
            <Link href={`/tasks/${wait.task_id}`} className="link">
              {texts.run.answerTask}
            </Link>
          )}
        </p>
      )}
      {runs && (
        <pre ref={end} className="prints" aria-live="polite">
          {text === "" ? texts.run.noLogsYet : <UntrustedText text={text} />}
        </pre>
      )}
    </div>
  );
}
