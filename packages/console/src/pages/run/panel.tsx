import type { ChainEntry, WholeExecution } from "@nova/client";
import * as Tabs from "@radix-ui/react-tabs";
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/raw.ts";
import { CodeLines, CodeView } from "../../parts/code.tsx";
import { type Graph, listNodes } from "../../parts/graph/definition.ts";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { formatDuration, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { ContextDiff, WholeContext } from "./context-diff.tsx";
import { stateLooks } from "./run-graph.tsx";
import type { RunModel } from "./run-model.ts";
import { Steps } from "./steps.tsx";
import { compareVisits, findItem, isReused, type Visit } from "./visits.ts";
import "../../parts/tabs.css";
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
export function Panel({ run, model, node, visit, onSelect, actions }: PanelProps): JSX.Element {
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
          <h2>
            <UntrustedText text={visit.id} />
          </h2>
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
function RunContext({ run }: { run: WholeExecution }): JSX.Element {
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

function VisitBadge({ visit: { state } }: { visit: Visit }): JSX.Element {
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

/** An entry never changes, so it is read once. */
interface EntryProps {
  execution: string;
  entry: ChainEntry;
  credentials: readonly string[] | undefined;
}

function EntryView({ execution, entry, credentials }: EntryProps): JSX.Element {
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
          <b>{entry.error_class}</b> <UntrustedText text={entry.error_message} />
        </p>
      )}
      {link.isPending ? (
        <Loading lines={6} />
      ) : link.error ? (
        <Failure error={link.error} onRetry={() => void link.refetch()} />
      ) : (
        <EntryTabs execution={execution} entry={link.data} credentials={credentials} />
      )}
    </>
  );
}

function EntryTabs({ execution, entry, credentials }: EntryProps): JSX.Element {
  const tabs: [name: string, label: string, content: () => JSX.Element][] = [
    ["code", texts.run.code, () => <Code entry={entry} code={entry.code_executed} />],
    ["context", texts.run.context, () => <Contexts execution={execution} entry={entry} />],
    ["logs", texts.run.logs, () => <Logs logs={entry.logs} />],
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
  return <ContextDiff before={before ? asRaw(before) : null} after={after ? asRaw(after) : null} home={home} />;
}

function Logs({ logs }: { logs: string | null | undefined }): JSX.Element {
  if (!logs) return <p className="quiet">{texts.run.noLogs}</p>;
  return (
    <pre className="prints">
      <UntrustedText text={logs} />
    </pre>
  );
}

/** Lines of a traceback that name a file. */
const placePattern = /^ {2}File "([^"\n]*)", line (\d+)/gm;

function findFailedLine({ traceback, node_id }: ChainEntry): number | undefined {
  const places = Array.from((traceback ?? "").matchAll(placePattern));
  const ownPlace = places.findLast(([, file]) => file === `${node_id}.py`) ?? places.at(-1);
  return ownPlace && Number(ownPlace[2]);
}

function Code({ entry, code }: { entry: ChainEntry; code: string | null | undefined }): JSX.Element {
  if (!code) return <p className="quiet">{texts.run.noCode}</p>;
  return (
    <div className="panel-code">
      {entry.error_message === null ? (
        <CodeView code={code} label={texts.run.code} />
      ) : (
        <CodeLines code={code} marked={findFailedLine(entry)} note={entry.error_message} />
      )}
      {entry.traceback && (
        <details className="traceback">
          <summary>{texts.run.traceback}</summary>
          <pre className="prints">
            <UntrustedText text={entry.traceback} />
          </pre>
        </details>
      )}
    </div>
  );
}

interface VisitListProps {
  visits: readonly Visit[];
  visit: Visit;
  onSelect(visit: Visit): void;
}

const height = 26;

/** A list of all visits of a node, or of all items of its map; failures first. */
export function VisitList({ visits, visit, onSelect }: VisitListProps): JSX.Element {
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
export function LiveLog({ visit }: { visit: Visit }): JSX.Element {
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
          {typeof wait.message === "string" && (
            <b>
              <UntrustedText text={wait.message} />
            </b>
          )}
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

interface DetailsProps {
  entry: ChainEntry;
  credentials: readonly string[] | undefined;
}

/** The hashes of an entry, and where it ran. */
export function Details({ entry, credentials }: DetailsProps): JSX.Element {
  const words = texts.run.fields;
  const rows: [label: string, value: string | null | undefined][] = [
    [words.place, `${entry.seq}${entry.scope}`],
    [words.type, entry.node_type],
    [words.decision, entry.decision_result],
    [words.next, entry.path_taken],
    [words.attempt, String(entry.attempt)],
    [words.credentials, credentials?.join(", ")],
    [words.sandbox, entry.sandbox_id],
    [words.hash, entry.hash],
    [words.prev, entry.prev],
    [words.code, entry.code_hash],
  ];
  return (
    <dl className="details">
      <div>
        <dt>{words.at}</dt>
        <dd>
          <Time at={entry.timestamp} />
        </dd>
      </div>
      {entry.reused_from && (
        <div>
          <dt>{words.reused}</dt>
          <dd className="mono">
            <Source of={entry.reused_from} node={entry.node_id} />
          </dd>
        </div>
      )}
      {rows.map(([label, value]) =>
        value ? (
          <div key={label}>
            <dt>{label}</dt>
            <dd className="mono">
              <UntrustedText text={value} />
            </dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** A link to the entry whose outcome is reused. */
function Source({ of, node }: { of: NonNullable<ChainEntry["reused_from"]>; node: string }): JSX.Element {
  const link = `${of.scope}#${of.seq}`;
  return (
    <Link href={`/runs/${of.execution_id}?${new URLSearchParams({ node, link })}`} className="link">
      <UntrustedText text={`${of.execution_id} ${link}`} />
    </Link>
  );
}
