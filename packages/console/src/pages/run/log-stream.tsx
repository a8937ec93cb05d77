import { type ChainEntry, formatDuration } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Loading, lazyComponent } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { useEntry } from "./entry-view.tsx";
import { stateLooks } from "./run-graph.tsx";
import { findItem, type RunModel, type Visit } from "./run-model.ts";
import { LowerTabs } from "./timeline.tsx";

const EmbeddedTask = lazyComponent(async () => (await import("../tasks/tasks-page.tsx")).EmbeddedTask);

const lineHeight = 60;

interface LogStreamProps {
  model: RunModel;
  onSelect(visit: Visit): void;
  onTimeline(): void;
}

/** Shows the output of all nodes, in the order in which the nodes started. Reads only the output of visible nodes. */
export function LogStream({ model, onSelect, onTimeline }: LogStreamProps) {
  const visits = useMemo(() => model.visits.filter(mayPrint).toSorted((a, b) => a.from - b.from), [model]);
  const [follows, setFollows] = useState(model.isOpen);
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: visits.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    getItemKey: (index) => (visits[index] as Visit).key,
    overscan: 4,
  });
  const height = rows.getTotalSize();
  useEffect(() => {
    if (follows && height > 0) scroller.current?.scrollTo({ top: height });
  }, [follows, height]);
  return (
    <section className="pane" aria-label={texts.run.allLogs}>
      <div className="timeline-head line small">
        <LowerTabs open="logs" onOther={onTimeline} />
        {visits.length === 0 && <span className="quiet">{texts.run.noLogsAtAll}</span>}
        <button
          type="button"
          className="badge tone-run actions"
          aria-pressed={follows}
          onClick={() => setFollows(!follows)}
        >
          {texts.run.followLogs}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <div ref={scroller} className="log-rows" role="group" aria-label={texts.run.allLogs} tabIndex={0}>
        <div className="virtual" style={{ height }}>
          {rows.getVirtualItems().map(({ key, index, start }) => {
            const visit = visits[index] as Visit;
            return (
              <section
                key={key}
                ref={rows.measureElement}
                data-index={index}
                aria-label={visit.node}
                style={{ transform: `translateY(${start}px)` }}
              >
                <LogHead visit={visit} onSelect={onSelect} />
                {visit.entry ? <EndedLog execution={visit.execution} entry={visit.entry} /> : <LiveLog visit={visit} />}
              </section>
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** Returns whether the node runs code. Waiting nodes and reused entries print nothing. */
function mayPrint({ entry, state }: Visit): boolean {
  return entry ? entry.times.code_ms > 0 : state === "running";
}

function LogHead({ visit, onSelect }: { visit: Visit; onSelect(visit: Visit): void }) {
  const item = findItem(visit.scope);
  return (
    <button type="button" className={`visit pick tone-${stateLooks[visit.state].tone}`} onClick={() => onSelect(visit)}>
      <i className="dot" />
      <b>{visit.node}</b>
      {item !== undefined && <span>{texts.run.item(item)}</span>}
      {visit.entry && <Time at={visit.entry.timestamp} />}
      {visit.entry && <span className="quiet">{formatDuration(visit.entry.times.code_ms)}</span>}
    </button>
  );
}

/** Shows the output of an ended node: that of its failed attempts, and that of its last attempt. */
function EndedLog({ execution, entry }: { execution: string; entry: ChainEntry }) {
  const { data } = useEntry(execution, entry);
  if (!data) return <Loading lines={1} />;
  const text = [...data.steps.map(({ logs }) => logs), data.logs].filter(Boolean).join("");
  if (text === "") return <p className="quiet small log-none">{texts.run.noLogs}</p>;
  return <UntrustedText as="pre" className="well prose printed" text={text} />;
}

const pauseMs = 1_000;
/** Maximum number of characters of output that the page keeps. The server has a limit of the same size. */
const maxKept = 64 * 1024;

interface PrintedSoFar {
  text: string;
  /**
   * The number of lines that were cut off before the text; 0 if this number is not known; undefined if the text is
   * complete.
   */
  cutLines: number | undefined;
}

/** Adds new output to the text. If the server has dropped bytes, the page does not know how many lines they had. */
function addPrinted({ text, cutLines }: PrintedSoFar, printed: { text: string; left_out: number }): PrintedSoFar {
  const whole = text + printed.text;
  if (printed.left_out === 0 && whole.length <= maxKept) return { text: whole, cutLines };
  const rest = whole.slice(-maxKept);
  const kept = whole.length > maxKept ? rest.slice(rest.indexOf("\n") + 1) : rest;
  const cut = whole.slice(0, whole.length - kept.length).split("\n").length - 1;
  const isCounted = printed.left_out === 0 && (cutLines === undefined || cutLines > 0);
  return { text: kept, cutLines: isCounted ? (cutLines ?? 0) + cut : 0 };
}

/** Shows the live output of running code, and scrolls to the newest line. */
export function LiveLog({ visit }: { visit: Visit }) {
  const nova = useNova();
  const { execution, seq, scope, work, state } = visit;
  const [{ text, cutLines }, setLog] = useState<PrintedSoFar>({ text: "", cutLines: undefined });
  const after = useRef<string | null>(null);
  const runs = state === "running";
  // Each view has its own query, because each view reads from its own position.
  const view = useId();
  useQuery({
    queryKey: ["log", execution, scope, seq, view],
    enabled: runs,
    refetchInterval: pauseMs,
    gcTime: 0,
    async queryFn() {
      const query = { ...(scope !== "" && { scope }), ...(after.current !== null && { after: after.current }) };
      const params = { path: { id: execution, seq }, query };
      const printed = await nova.ask(nova.api.GET("/executions/{id}/chain/{seq}/logs", { params }));
      if (printed.next !== null) after.current = printed.next;
      if (printed.left_out > 0 || printed.text !== "") setLog((before) => addPrinted(before, printed));
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
      {wait?.kind === "approval" && typeof wait.task_id === "string" ? (
        <EmbeddedTask id={wait.task_id} />
      ) : (
        wait && (
          <p className="notice tone-wait stack">
            {texts.run.waitsFor[wait.kind]}
            {typeof wait.message === "string" && <UntrustedText as="b" text={wait.message} />}
          </p>
        )
      )}
      {runs && cutLines !== undefined && <p className="quiet small">{texts.run.cutLogs(cutLines)}</p>}
      {runs && (
        <pre ref={end} className="well prose printed" aria-live="polite">
          {text === "" ? texts.run.noLogsYet : <UntrustedText text={text} />}
        </pre>
      )}
    </div>
  );
}
