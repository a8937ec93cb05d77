import { useMemo } from "react";
import { useSearchParams } from "wouter";

export type Changes<Name extends string> = Partial<Record<Name, string | undefined>>;

/** What the address says under these names, and how to change it; undefined takes a name away. */
export function useAddress<Name extends string>(
  names: readonly Name[],
): [Partial<Record<Name, string>>, (changes: Changes<Name>) => void] {
  const [params, setParams] = useSearchParams();
  const given = useMemo(() => valuesIn(params, names), [params, names]);
  const change = (changes: Changes<Name>) => {
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries<string | undefined>(changes)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      },
      { replace: true },
    );
  };
  return [given, change];
}

function valuesIn<Name extends string>(params: URLSearchParams, names: readonly Name[]): Partial<Record<Name, string>> {
  const given = names.flatMap((name) => (params.get(name) ? [[name, params.get(name)]] : []));
  return Object.fromEntries(given) as Partial<Record<Name, string>>;
}
