import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";

/** What the address says of these names. A change replaces the place in the history: filters are no steps. */
export function useAddress<const Name extends string>(
  names: readonly Name[],
): [Named<Name>, (change: Partial<Record<Name, string | undefined>>) => void] {
  const [params, setParams] = useSearchParams();
  const key = names.join(" ");
  const given = useMemo(() => namedIn(params, key.split(" ") as Name[]), [params, key]);
  const change = useCallback(
    (changes: Partial<Record<Name, string | undefined>>) => {
      setParams((before) => changed(before, changes), { replace: true });
    },
    [setParams],
  );
  return [given, change];
}

export type Named<Name extends string> = { [One in Name]?: string };

/** Those that are there and say something. */
export function namedIn<Name extends string>(params: URLSearchParams, names: readonly Name[]): Named<Name> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = params.get(name);
      return value ? [[name, value]] : [];
    }),
  ) as Named<Name>;
}

/** What is not named stays as it is. */
export function changed(before: URLSearchParams, changes: Record<string, unknown>): URLSearchParams {
  const next = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (typeof value === "string" && value !== "") next.set(name, value);
    else next.delete(name);
  }
  return next;
}
