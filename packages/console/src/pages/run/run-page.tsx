import type { WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useParams, useSearchParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { asRaw } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { DialogButton } from "../../parts/dialog.tsx";
import { type Graph, listNodes } from "../../parts/graph/definition.ts";
import { Icon } from "../../parts/icon.tsx";
import { useKeys, useStepKeys } from "../../parts/keyboard.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { useVisibleRows } from "../../parts/table.tsx";
import { formatDuration, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { EntryView, WholeContext } from "./entry-view.tsx";
import { RestartDialog, RunHead } from "./run-head.tsx";
import { compareVisits, findItem, isReused, type RunModel, type Visit } from "./run-model.ts";
import { RunGraph, stateLooks, Timeline } from "./run-views.tsx";
import { useRun } from "./use-run.ts";

/** One run: its graph, its timeline and the selected entry. */
export function RunPage() {
  const { id = "" } = useParams<{ id: string }>();
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((node: string) => setOpened((before) => before.symmetricDifference(new Set([node]))), []);
  const { record, model } = useRun(id, opened);
  return (
    <QueryView query={record} lines={10} missing={{ words: texts.run, to: "/" }}>
      {(run) => (
        <>
          <RunHead run={run} />
          <QueryView query={model}>
            {(data) => <Views key={id} run={run} model={data} opened={opened} toggle={toggle} />}
          </QueryView>
        </>
      )}
    </QueryView>
  );
}

interface Shown {
  run: WholeExecution;
  model: RunModel;
  opened: ReadonlySet<string>;
  toggle(node: string): void;
}

const views = ["graph", "timeline", "link"] as const;

/** Shows the three views side by side, or one at a time on a phone. */
function Views({ run, model, opened, toggle }: Shown) {
  const { node, visit, isInAddress, select } = useChosen(model);
  const [view, setView] = useState<(typeof views)[number]>(isInAddress ? "link" : "graph");
  const show = (target: Visit | string) => {
    select(target);
    setView("link");
  };
  useVisitKeys(model, visit, show);
  const labels = { graph: texts.run.graphShort, timeline: texts.run.timeline, link: texts.run.node };
  return (
    <>
      {run.error && model.failed && view !== "link" && (
        <FailureBar failed={model.failed} message={run.error.message} onShow={show} />
      )}
      <div className="run-switch tab-list" role="tablist" aria-label={texts.run.views}>
        {views.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            className="tab"
            data-state={one === view ? "active" : ""}
            aria-selected={one === view}
            onClick={() => setView(one)}
          >
            {labels[one]}
          </button>
        ))}
      </div>
      <div className="run-views" data-view={view}>
        <div className="run-graph-box">
          <RunGraph model={model} opened={opened} toggle={toggle} selected={node} onSelect={show} />
        </div>
        <div className="run-timeline-box">
          <Timeline run={run} model={model} selected={visit?.key} onSelect={show} />
        </div>
        <div className="run-panel-box">
          <Panel
            run={run}
            model={model}
            node={node}
            visit={visit}
            onSelect={select}
            actions={(of) =>
              run.ended_at !== null &&
              of.entry && (
                <DialogButton
                  key={of.key}
                  icon="restart"
                  label={texts.run.restartFrom}
                  dialog={(close) => <RestartDialog run={run} from={formatPlace(of, model)} onClose={close} />}
                />
              )
            }
          />
        </div>
      </div>
    </>
  );
}

function FailureBar({ failed, message, onShow }: { failed: Visit; message: string; onShow(visit: Visit): void }) {
  return (
    <div className="failure-bar row notice tone-bad" role="alert">
      <b>{texts.run.failure(failed.node)}</b>
      <UntrustedText as="span" className="fill ellipsis" text={message} />
      <Button onClick={() => onShow(failed)}>{texts.run.showFailure}</Button>
    </div>
  );
}

/** Returns the visit that the address selects; if it selects none, the failed visit. */
function useChosen(model: RunModel) {
  const [params, setParams] = useSearchParams();
  const [link, node] = [params.get("link"), params.get("node")];
  const isInAddress = link !== null || node !== null;
  const visit = useMemo(() => {
    if (!isInAddress) return model.failed;
    const addressed = model.visits.find(({ key }) => key === link);
    return addressed ?? (node === null ? undefined : model.nodes.get(node)?.visits.toSorted(compareVisits)[0]);
  }, [model, link, node, isInAddress]);
  const select = (target: Visit | string) => {
    setParams(typeof target === "string" ? { node: target } : { node: target.node, link: target.key }, {
      replace: true,
    });
  };
  return { node: visit?.node ?? node ?? undefined, visit, isInAddress, select };
}

function useVisitKeys(model: RunModel, visit: Visit | undefined, show: (visit: Visit) => void): void {
  const sorted = useMemo(() => model.visits.toSorted((a, b) => a.from - b.from), [model]);
  useStepKeys(sorted, visit, show, texts.run.keys);
  useKeys({ e: { label: texts.run.keys.failure, run: () => model.failed && show(model.failed) } });
}

/** Formats the place of a visit as restarts name it: `find`, `poll#2`, `each[3].find`. */
function formatPlace(visit: Visit, model: RunModel): string {
  const same = model.visits.filter(({ node, scope }) => node === visit.node && scope === visit.scope);
  const at = same.findIndex(({ key }) => key === visit.key) + 1;
  const items = visit.scope.matchAll(/\/([^/@]+)@\d+\.(\d+)(?=\/|$)/g);
  const around = Array.from(items, ([, map, item]) => `${map}[${item}].`).join("");
  const runs = visit.node.slice(0, visit.node.length - visit.id.length);
  return `${runs}${around}${visit.id}${at > 1 ? `#${at}` : ""}`;
}

interface PanelProps {
  run: WholeExecution;
  model: RunModel;
  node: string | undefined;
  visit: Visit | undefined;
  onSelect(visit: Visit): void;
  actions(visit: Visit): ReactNode;
}

function Panel({ run, model, node, visit, onSelect, actions }: PanelProps) {
  if (!visit) {
    return (
      <aside className="pane" aria-label={texts.run.detail}>
        {node === undefined ? <RunContext run={run} /> : <Empty icon="flow" title={node} hint={texts.run.notRun} />}
      </aside>
    );
  }
  const visits = model.nodes.get(visit.node)?.visits ?? [];
  return (
    <aside className="pane" aria-label={texts.run.detail}>
      <header className="pane-head">
        <div className="line">
          <UntrustedText as="h2" text={visit.id} />
          <VisitBadge visit={visit} />
          <span className="actions">{actions(visit)}</span>
        </div>
        <div className="line small quiet">
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

function RunContext({ run }: { run: WholeExecution }) {
  return (
    <>
      <header className="pane-head">
        <h2>{run.ended_at === null ? texts.run.knows : texts.run.result}</h2>
        <p className="quiet">{run.status === "queued" ? texts.run.queued : texts.run.pick}</p>
      </header>
      <div className="pane-body">
        <WholeContext context={asRaw(run.context)} home={{ execution: run.execution_id }} />
      </div>
    </>
  );
}

function VisitBadge({ visit: { state } }: { visit: Visit }) {
  const { tone, icon, label } = stateLooks[state];
  return (
    <span className={`badge tone-${tone}`}>
      {icon ? <Icon name={icon} size={12} /> : <span className={`mark center tone-${tone} mark-running`} />}
      {label}
    </span>
  );
}

/** Returns the names of the credentials that the node receives. */
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
  const at = sorted.findIndex(({ key }) => key === visit.key);
  const rows = useVisibleRows<HTMLElement>(sorted.length, height, at);
  return (
    <section ref={rows.scroller} className="visit-list" aria-label={texts.run.chooseVisit}>
      <div className="virtual" style={{ height: rows.height }}>
        {rows.visible.map(({ index, start }) => {
          const one = sorted[index] as Visit;
          const { tone, label } = stateLooks[one.state];
          const item = findItem(one.scope);
          return (
            <button
              key={one.key}
              type="button"
              className={`visit pick tone-${tone}`}
              aria-pressed={one.key === visit.key}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => onSelect(one)}
            >
              <i className="dot" />
              <span>{item === undefined ? texts.run.visit(numbers.get(one.key) ?? 0) : texts.run.item(item)}</span>
              <span className="fill ellipsis toned">
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
/** Maximum length of the output that the page keeps, which is also the maximum of the server. */
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
    <div className="pane-body">
      {wait && (
        <p className="notice tone-wait stack">
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
        <pre ref={end} className="well prose printed" aria-live="polite">
          {text === "" ? texts.run.noLogsYet : <UntrustedText text={text} />}
        </pre>
      )}
    </div>
  );
}
