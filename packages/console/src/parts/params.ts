export type Named<Name extends string> = { [One in Name]?: string };

/** Returns the parameters whose name is in `names` and whose value is not empty. */
export function readParams<Name extends string>(params: URLSearchParams, names: readonly Name[]): Named<Name> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = params.get(name);
      return value ? [[name, value]] : [];
    }),
  ) as Named<Name>;
}

/** Returns a copy with `changes` applied. An empty value removes its parameter. */
export function changeParams(before: URLSearchParams, changes: Record<string, unknown>): URLSearchParams {
  const next = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    if (typeof value === "string" && value !== "") next.set(name, value);
    else next.delete(name);
  }
  return next;
}
