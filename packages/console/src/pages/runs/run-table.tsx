import { type Execution, formatUsd } from "@nova/client";
import { useCallback, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { IconButton } from "../../parts/button.tsx";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { listLabels } from "../../parts/run-text.ts";
import { StatusBadge } from "../../parts/status.tsx";
import { type Column, WindowedTable } from "../../parts/table.tsx";
import { Duration, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { type Runs, requestForRuns } from "./use-runs.ts";

const words = texts.runs;
const { columns: labels, select, selectAll, title } = words;

interface RunTableProps {
  runs: Runs;
  items: readonly Execution[];
  selection: Selection;
  at: number;
}

export function RunTable({ runs, items, selection, at }: RunTableProps) {
  const [, go] = useLocation();
  const isAllSelected = items.length > 0 && selection.ids.size >= items.length;
  const columns = useMemo(
    (): Column<Execution>[] => [
      [
        selectAll,
        ({ execution_id: id }, index) => (
          <label className="center">
            <input
              type="checkbox"
              aria-label={select(id)}
              checked={selection.has(id)}
              onChange={({ nativeEvent }) => selection.toggle(id, index, (nativeEvent as MouseEvent).shiftKey)}
            />
          </label>
        ),
        undefined,
        <input
          key="all"
          type="checkbox"
          aria-label={selectAll}
          checked={isAllSelected}
          onChange={() => selection.replace(isAllSelected ? [] : items.map(({ execution_id }) => execution_id))}
        />,
      ],
      ...dataColumns,
    ],
    [items, selection, isAllSelected],
  );
  const isSelected = useCallback(({ execution_id }: Execution) => selection.has(execution_id), [selection]);
  const open = useCallback(({ execution_id }: Execution) => go(`/runs/${execution_id}`), [go]);
  return (
    <WindowedTable
      className="runs-table"
      label={title}
      items={items}
      columns={columns}
      keyOf={({ execution_id }) => execution_id}
      at={at}
      rowHeight={34}
      query={runs}
      isSelected={isSelected}
      onOpen={open}
    />
  );
}

const dataColumns: readonly Column<Execution>[] = [
  [labels.status, ({ status }) => <StatusBadge status={status} />],
  [
    labels.workflow,
    ({ execution_id, workflow, version }) => (
      <>
        <Link href={`/runs/${execution_id}`}>
          <WorkflowName id={workflow} />
        </Link>
        <span className="quiet"> v{version}</span>
      </>
    ),
  ],
  [labels.id, ({ execution_id: id }) => `…${id.slice(-8)}`, "wide mono quiet"],
  [labels.client, ({ client }) => client, "wide quiet"],
  [labels.started, ({ started_at }) => <Time at={started_at} />, "medium quiet"],
  [labels.duration, ({ started_at, duration_ms }) => <Duration from={started_at} ms={duration_ms} />, "number"],
  [labels.cost, ({ spent }) => (spent && spent.cost_usd > 0 ? formatUsd(spent.cost_usd) : ""), "wide number quiet"],
  [labels.labels, (item) => <Labels item={item} />, "run-labels wide"],
  [labels.result, (item) => <Result item={item} />, "run-result medium"],
];

function Labels({ item }: { item: Execution }) {
  return listLabels(item).map((label) => (
    <Link key={label} href={`/?${new URLSearchParams({ label })}`} className="quiet">
      <UntrustedText text={label} />
    </Link>
  ));
}

function Result({ item: { error, restarted_from, parent, trigger, restarts } }: { item: Execution }) {
  const next = restarts.at(-1);
  if (error) {
    return (
      <span className="quiet">
        {next !== undefined && (
          <Link href={`/runs/${next}`} className="badge tone-idle">
            {words.restartedAs}
          </Link>
        )}
        <b>{error.node}</b> <UntrustedText text={error.message} />
      </span>
    );
  }
  const startedBy = trigger === null ? "" : texts.runs.startedBy(trigger);
  const origins = [startedBy, restarted_from && texts.runs.restarted, parent && texts.runs.inside].filter(Boolean);
  return <span className="quiet">{origins.join(", ")}</span>;
}

interface Outcome {
  /** The sentence about the runs for which the action succeeded. */
  done: string;
  refused: Awaited<ReturnType<typeof requestForRuns>>;
}

/**
 * Shows the actions for the selected runs. As in `nova restart`, child runs and runs that were restarted before are not
 * restarted.
 */
export function BulkBar({ items, selection }: { items: readonly Execution[]; selection: Selection }) {
  const { executions } = useNova();
  const reload = useReload();
  const [lastOutcome, setLastOutcome] = useState<Outcome>();
  const count = selection.ids.size;
  // The outcome of the last action is shown until the user changes the selection.
  const isUnchanged = lastOutcome?.refused.length === count && lastOutcome.refused.every(({ id }) => selection.has(id));
  const outcome = isUnchanged ? lastOutcome : undefined;
  if (count === 0 && !outcome) return null;
  const selected = items.filter(({ execution_id }) => selection.has(execution_id));
  const restartable = selected.filter(({ restarts, parent }) => restarts.length === 0 && !parent);
  const skipped = count - restartable.length;
  const run = async (
    ids: readonly string[],
    describe: (done: number) => string,
    request: (id: string) => Promise<unknown>,
  ) => {
    const refused = await requestForRuns(ids, request);
    setLastOutcome({ done: describe(ids.length - refused.length), refused });
    selection.replace(refused.map(({ id }) => id));
    await reload(["runs"]);
  };
  const clear = () => {
    selection.replace([]);
    setLastOutcome(undefined);
  };
  return (
    <section className="bulk-bar line" aria-label={words.selected(count)}>
      <b aria-live="polite">{outcome ? words.outcome(outcome.done, outcome.refused.length) : words.selected(count)}</b>
      {count > 0 && (
        <>
          <ConfirmButton
            icon="stop"
            tone="danger"
            label={words.cancel}
            title={words.confirmCancel(count)}
            hint={words.confirmCancelHint}
            onConfirm={() => run([...selection.ids], words.cancelled, executions.cancel)}
          />
          <ConfirmButton
            icon="restart"
            label={words.restart}
            disabled={restartable.length === 0}
            title={words.confirmRestart(restartable.length)}
            hint={skipped === 0 ? words.confirmRestartHint : `${words.confirmRestartHint} ${words.skipped(skipped)}`}
            onConfirm={() => {
              const ids = restartable.map(({ execution_id }) => execution_id);
              const describe = (done: number) =>
                skipped === 0 ? words.startedAgain(done) : `${words.startedAgain(done)}. ${words.skipped(skipped)}`;
              return run(ids, describe, executions.restart);
            }}
          />
        </>
      )}
      <IconButton icon="cross" label={words.clearSelection} onClick={clear} />
      {outcome?.refused[0] && <UntrustedText as="p" className="whole bad small" text={outcome.refused[0].reason} />}
    </section>
  );
}

export type Selection = ReturnType<typeof useSelection>;

/** Returns the selected runs among the visible runs. */
export function useSelection(visible: readonly { execution_id: string }[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const latest = useRef(visible);
  latest.current = visible;
  const anchor = useRef(0);
  /** Toggles a run; with `isRange`, toggles all runs from the last toggled run to this run. */
  const toggle = useCallback((id: string, index: number, isRange: boolean) => {
    const [from, to] = [anchor.current, index].sort((a, b) => a - b) as [number, number];
    anchor.current = index;
    setIds((before) => {
      const next = new Set(before);
      const range = isRange ? latest.current.slice(from, to + 1).map(({ execution_id }) => execution_id) : [id];
      const isAdding = !before.has(id);
      for (const one of range) {
        if (isAdding) next.add(one);
        else next.delete(one);
      }
      return next;
    });
  }, []);
  const replace = useCallback((chosen: readonly string[]) => setIds(new Set(chosen)), []);
  return useMemo(() => {
    // Runs that a filter hides must not be cancelled or restarted.
    const visibleIds = new Set(visible.flatMap(({ execution_id: id }) => (ids.has(id) ? id : [])));
    return { ids: visibleIds, has: (id: string) => visibleIds.has(id), toggle, replace };
  }, [ids, visible, toggle, replace]);
}
