import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";
import { changeParams, type Named, readParams } from "./params.ts";

/**
 * Returns search parameters of the address and a function that changes them. A change replaces the entry in the
 * history, because a filter is no navigation step.
 */
export function useAddress<const Name extends string>(
  names: readonly Name[],
): [Named<Name>, (change: Partial<Record<Name, string | undefined>>) => void] {
  const [params, setParams] = useSearchParams();
  const key = names.join(" ");
  const values = useMemo(() => readParams(params, key.split(" ") as Name[]), [params, key]);
  const change = useCallback(
    (changes: Partial<Record<Name, string | undefined>>) => {
      setParams((before) => changeParams(before, changes), { replace: true });
    },
    [setParams],
  );
  return [values, change];
}
