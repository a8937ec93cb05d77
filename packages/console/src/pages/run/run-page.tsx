import { type ChainEntry, formatDuration, type WholeExecution } from "@nova/client";
import { type CSSProperties, useCallback, useMemo, useRef, useState } from "react";
import { useParams } from "wouter";
import { asRaw } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { DialogButton } from "../../parts/dialog.tsx";
import { useAddress } from "../../parts/filters.tsx";
import { listNodes } from "../../parts/graph/definition.ts";
import { Icon } from "../../parts/icon.tsx";
import { useKeys, usePlaces, useStepKeys } from "../../parts/keyboard.tsx";
import { type Fact, Facts } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { useVisibleRows } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { Conversation } from "./conversation.tsx";
import { EntryView, WholeContext } from "./entry-view.tsx";
import { FixPanel } from "./fix/fix-panel.tsx";
import { LiveLog, LogStream } from "./log-stream.tsx";
import { RestartDialog } from "./restart-dialog.tsx";
import { lookOfState, RunGraph, stateLooks } from "./run-graph.tsx";
import { RunHead } from "./run-head.tsx";
import { compareVisits, findItem, isReused, type RunModel, reportItems, type Visit } from "./run-model.ts";
import { readWidth, Splitter } from "./splitter.tsx";
import { Timeline } from "./timeline.tsx";
import { useRun } from "./use-run.ts";

/** One run: its graph, its timeline and the selected entry. */
export function RunPage() {
  const { id = "" } = useParams<{ id: string }>();
  const [opened, toggle] = useOpenedNodes();
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

/**
 * Returns the ids of the unfolded nodes, and a function that folds or unfolds a node. The ids are in the address, so
 * that a copied address shows the same view.
 */
function useOpenedNodes(): [ReadonlySet<string>, (node: string) => void] {
  const [{ open }, change] = useAddress(["open"]);
  const opened = useMemo(() => new Set(open?.split(",")), [open]);
  const toggle = useCallback(
    (node: string) => change({ open: Array.from(opened.symmetricDifference(new Set([node]))).join(",") }),
    [opened, change],
  );
  return [opened, toggle];
}

interface Shown {
  run: WholeExecution;
  model: RunModel;
  opened: ReadonlySet<string>;
  toggle(node: string): void;
}

const views = ["graph", "timeline", "link"] as const;

/** Shows the graph, the timeline and the entry side by side, or one at a time on a phone. */
function Views({ run, model, opened, toggle }: Shown) {
  const { node, visit, isInAddress, select } = useChosen(model);
  const [address, change] = useAddress(["view", "lower"]);
  const [width, setWidth] = useState(readWidth);
  const changeView = useCallback((next: string | undefined) => change({ view: next }), [change]);
  const [view, setView] = useState<(typeof views)[number]>(isInAddress ? "link" : "graph");
  const show = (target: Visit | string) => {
    select(target);
    setView("link");
  };
  useVisitKeys(model, visit, show);
  useNodePlaces(model, show);
  const labels = { graph: texts.workflows.tabs.graph, timeline: texts.run.timeline, link: texts.run.node };
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
      <div className="run-views" data-view={view} style={{ "--panel": `${width}%` } as CSSProperties}>
        <div className="run-graph-box">
          <RunGraph
            model={model}
            opened={opened}
            toggle={toggle}
            selected={node}
            onSelect={show}
            view={address.view}
            onView={changeView}
          />
        </div>
        <div className="run-timeline-box">
          {address.lower === "logs" ? (
            <LogStream model={model} onSelect={show} onTimeline={() => change({ lower: undefined })} />
          ) : (
            <Timeline
              run={run}
              model={model}
              opened={opened}
              toggle={toggle}
              selected={visit?.key}
              onSelect={show}
              onLogs={() => change({ lower: "logs" })}
            />
          )}
        </div>
        <div className="run-panel-box">
          <Splitter width={width} onChange={setWidth} />
          <Panel run={run} model={model} node={node} visit={visit} onSelect={select} />
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
  const [{ link, node }, change] = useAddress(["link", "node"]);
  const isInAddress = link !== undefined || node !== undefined;
  const visit = useMemo(() => {
    if (!isInAddress) return model.failed;
    const addressed = model.visits.find(({ key }) => key === link);
    return addressed ?? (node === undefined ? undefined : model.nodes.get(node)?.visits.toSorted(compareVisits)[0]);
  }, [model, link, node, isInAddress]);
  const select = (target: Visit | string) =>
    change(typeof target === "string" ? { node: target, link: undefined } : { node: target.node, link: target.key });
  return { node: visit?.node ?? node, visit, isInAddress, select };
}

function useVisitKeys(model: RunModel, visit: Visit | undefined, show: (visit: Visit) => void): void {
  const sorted = useMemo(() => model.visits.toSorted((a, b) => a.from - b.from), [model]);
  useStepKeys(sorted, visit, show, texts.run.keys);
  useKeys({ e: { label: texts.run.keys.failure, run: () => model.failed && show(model.failed) } });
}

/** Adds the nodes of the run to the command palette. */
function useNodePlaces(model: RunModel, show: (node: string) => void): void {
  const latest = useRef(show);
  latest.current = show;
  const places = useMemo(
    () =>
      listNodes(model.graph).map(({ id, name }) => {
        const state = model.nodes.get(id)?.state ?? "idle";
        const label = lookOfState(state, model.isOpen).label;
        return { name: name === id ? id : `${name} (${id})`, note: label, open: () => latest.current(id) };
      }),
    [model],
  );
  usePlaces(places);
}

/** Formats the place of a visit for a restart, for example `find`, `poll#2` or `each[3].find`. */
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
}

function Panel({ run, model, node, visit, onSelect }: PanelProps) {
  if (!visit) {
    return (
      <aside className="pane" aria-label={texts.run.detail}>
        {node === undefined ? (
          <RunContext run={run} />
        ) : (
          <Empty icon="flow" title={node} hint={lookOfState("idle", model.isOpen).label} />
        )}
      </aside>
    );
  }
  const visits = model.nodes.get(visit.node)?.visits ?? [];
  // The entry of a map only lists the items. The entry of the join has the results.
  const isForked = visit.entry?.node_type === "map" && visit.entry.branches !== undefined;
  const shown = isForked ? visit.join : visit.entry;
  return (
    <aside className="pane" aria-label={texts.run.detail}>
      <header className="pane-head">
        <div className="line">
          <UntrustedText as="h2" text={visit.id} />
          <VisitBadge visit={visit} />
          <span className="actions">
            {run.ended_at !== null && visit.entry && (
              <DialogButton
                key={visit.key}
                icon="restart"
                label={texts.run.restartFrom}
                dialog={<RestartDialog run={run} from={formatPlace(visit, model)} />}
              />
            )}
          </span>
        </div>
        <div className="line small quiet">
          {visit.entry && <Time at={(visit.join ?? visit.entry).timestamp} />}
          {visit.entry && <span>{formatDuration(readTookMs(visit))}</span>}
        </div>
      </header>
      {visits.length > 1 && <VisitList visits={visits} visit={visit} onSelect={onSelect} />}
      {visit.entry?.branches && visit.entry.node_type === "map" && (
        <MapView visit={visit} model={model} onSelect={onSelect} />
      )}
      {run.ended_at !== null && visit.state === "failed" && isTask(visit.entry) && (
        <FixPanel
          key={`fix ${visit.key}`}
          run={run}
          execution={visit.execution}
          entry={visit.entry}
          place={formatPlace(visit, model).slice(visit.node.length - visit.id.length)}
        />
      )}
      {visit.entry?.node_type === "agent" && <Conversation visit={visit} model={model} onSelect={onSelect} />}
      {shown ? (
        <EntryView
          key={visit.key}
          execution={visit.execution}
          entry={shown}
          credentials={listNodes(model.graph).find(({ id }) => id === visit.node)?.credentials}
        />
      ) : (
        !visit.entry && <LiveLog key={visit.key} visit={visit} />
      )}
    </aside>
  );
}

/** Shows the report of a map above the results of its items. */
function MapView({ visit, model, onSelect }: Pick<PanelProps, "model" | "onSelect"> & { visit: Visit }) {
  const mapWords = texts.run.map;
  const report = useMemo(() => reportItems(visit, model.visits), [visit, model]);
  const { items, begun, completed, failed, cancelled, reused, failures } = report;
  const count = (number: number) => number > 0 && number.toLocaleString("en");
  const facts: Fact[] = [
    [mapWords.items, items.toLocaleString("en")],
    [mapWords.begun, begun < items && begun.toLocaleString("en")],
    [texts.status.completed, count(completed)],
    [texts.status.failed, count(failed)],
    [texts.status.cancelled, count(cancelled)],
    [texts.run.forecast.reused, count(reused)],
  ];
  return (
    <section className="map-report stack" aria-label={mapWords.title}>
      <Facts className="facts" facts={facts} />
      {failures.map((failure) => (
        <button
          key={failure.key}
          type="button"
          className="map-failure pick tone-bad"
          onClick={() => onSelect(failure.visits[0] as Visit)}
        >
          <b>{mapWords.times(failure.visits.length)}</b>
          <span className="fill">
            <span className="mono">{failure.node}</span> <b>{failure.class}</b> <UntrustedText text={failure.message} />
          </span>
          <span className="quiet small">
            {mapWords.inItems(failure.visits.flatMap(({ scope }) => findItem(scope) ?? []))}
          </span>
        </button>
      ))}
    </section>
  );
}

/** Returns whether the entry is of a node whose code or prompt a user can change. */
function isTask(entry: Visit["entry"]): entry is ChainEntry {
  return entry?.node_type === "action" || entry?.node_type === "decision";
}

/** Returns the milliseconds that a visit took. A map takes the time from the start of its items to their end. */
function readTookMs({ entry, from, to }: Visit): number {
  if (entry?.node_type === "map") return (to ?? from) - Date.parse(entry.timestamp);
  return entry?.execution_time_ms ?? 0;
}

function RunContext({ run }: { run: WholeExecution }) {
  return (
    <>
      <header className="pane-head">
        <h2>{run.ended_at === null ? texts.run.knows : texts.runs.columns.result}</h2>
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

interface VisitListProps {
  visits: readonly Visit[];
  visit: Visit;
  onSelect(visit: Visit): void;
}

const height = 26;

/** Lists all visits of a node, or its visits in all items of a map, with failures first. */
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
                {(one.join ?? one.entry)?.error_message ?? (isReused(one) ? texts.run.reusedShort : label)}
              </span>
              {one.entry && <span className="quiet">{formatDuration(readTookMs(one))}</span>}
            </button>
          );
        })}
      </div>
    </section>
  );
}
