import { useCallback, useMemo, useRef, useState } from "react";

export interface Selection {
  ids: ReadonlySet<string>;
  has(id: string): boolean;
  /** With `isRange` everything since the one that was toggled before. */
  toggle(id: string, index: number, isRange: boolean): void;
  replace(ids: readonly string[]): void;
}

/** Runs that were chosen, among those that are shown. */
export function useSelection(shown: readonly { execution_id: string }[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const latest = useRef(shown);
  latest.current = shown;
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
    // What a filter has taken out of sight is neither cancelled nor restarted.
    const seen = new Set(shown.flatMap(({ execution_id: id }) => (ids.has(id) ? id : [])));
    return { ids: seen, has: (id) => seen.has(id), toggle, replace };
  }, [ids, shown, toggle, replace]);
}
