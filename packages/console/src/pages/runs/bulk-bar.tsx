import { type JSX, useCallback, useMemo, useRef, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { ConfirmDialog } from "../../parts/dialog.tsx";
import { describeError } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./runs-page.css";

const words = texts.runs;

type Action = "cancel" | "restart";

interface Outcome {
  done: number;
  refused: { id: string; reason: string }[];
}

/** Concurrent requests; more would slow the API for other users. */
const concurrency = 4;

/** Actions for the selected runs. */
export function BulkBar({ selection }: { selection: Selection }): JSX.Element | null {
  const nova = useNova();
  const [action, setAction] = useState<Action>();
  const [lastOutcome, setLastOutcome] = useState<Outcome>();
  const count = selection.ids.size;
  // The outcome is shown until the user changes the selection.
  const isUnchanged = lastOutcome?.refused.length === count && lastOutcome.refused.every(({ id }) => selection.has(id));
  const outcome = isUnchanged ? lastOutcome : undefined;
  if (count === 0 && !outcome) return null;
  const run = async (chosen: Action) => {
    const request = chosen === "cancel" ? nova.executions.cancel : (id: string) => nova.executions.restart(id);
    const result = await runForAll(Array.from(selection.ids), request);
    setLastOutcome(result);
    selection.replace(result.refused.map(({ id }) => id));
  };
  return (
    <>
      <section className="bulk-bar" aria-label={words.selected(count)}>
        <b aria-live="polite">{outcome ? words.done(outcome.done, outcome.refused.length) : words.selected(count)}</b>
        {count > 0 && (
          <>
            <Button icon="stop" tone="danger" onClick={() => setAction("cancel")}>
              {words.cancel}
            </Button>
            <Button icon="restart" onClick={() => setAction("restart")}>
              {words.restart}
            </Button>
          </>
        )}
        <IconButton
          icon="cross"
          label={words.clearSelection}
          onClick={() => {
            selection.replace([]);
            setLastOutcome(undefined);
          }}
        />
        {outcome?.refused[0] && (
          <p className="bulk-why">
            <UntrustedText text={outcome.refused[0].reason} />
          </p>
        )}
      </section>
      {action && (
        <ConfirmDialog
          title={action === "cancel" ? words.confirmCancel(count) : words.confirmRestart(count)}
          action={words[action]}
          onConfirm={() => run(action)}
          onClose={() => setAction(undefined)}
        >
          <p className="quiet">{action === "cancel" ? words.confirmCancelHint : words.confirmRestartHint}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Runs an action for each id; a refused one does not stop the others. */
async function runForAll(ids: readonly string[], work: (id: string) => Promise<unknown>): Promise<Outcome> {
  const outcome: Outcome = { done: 0, refused: [] };
  const queue = [...ids];
  const worker = async () => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      try {
        await work(id);
        outcome.done++;
      } catch (error) {
        outcome.refused.push({ id, reason: describeError(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return outcome;
}

export interface Selection {
  ids: ReadonlySet<string>;
  has(id: string): boolean;
  /** Toggles a run; with `isRange`, all runs since the last toggled one. */
  toggle(id: string, index: number, isRange: boolean): void;
  replace(ids: readonly string[]): void;
}

/** The selected runs among the visible ones. */
export function useSelection(visible: readonly { execution_id: string }[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const latest = useRef(visible);
  latest.current = visible;
  const anchor = useRef(0);
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
    // Hidden runs are excluded from cancel and restart.
    const visibleIds = new Set(visible.flatMap(({ execution_id: id }) => (ids.has(id) ? id : [])));
    return { ids: visibleIds, has: (id) => visibleIds.has(id), toggle, replace };
  }, [ids, visible, toggle, replace]);
}
