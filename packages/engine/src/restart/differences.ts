import { type Member, parseExact, sorted } from "@nova/workflow";

/** A key that code set to another value than the recorded one. Values are JSON texts; null: the key was not set. */
export interface Difference {
  key: string;
  recorded: string | null;
  now: string | null;
}

/** The changes that a node made to its context. */
export interface Output {
  set: readonly Member[];
  delete: readonly string[];
}

/** Compares two outputs key by key, in the order of the keys. Every digit counts; the order of members in an object does not. */
export function differences(recorded: Output, now: Output): Difference[] {
  const [before, after] = [textsOf(recorded), textsOf(now)];
  const keys = Array.from(new Set([...before.keys(), ...after.keys()])).sort();
  return keys.flatMap((key) => {
    const [was, is] = [before.get(key) ?? null, after.get(key) ?? null];
    const isSame = was === is || (was !== null && is !== null && canonical(was) === canonical(is));
    return isSame ? [] : [{ key, recorded: was, now: is }];
  });
}

function textsOf({ set, delete: deleted }: Output): Map<string, string> {
  return new Map([
    ...deleted.map((key) => [key, '"(deleted)"'] as const),
    ...set.map(({ key, json }) => [key, json] as const),
  ]);
}

function canonical(json: string): string {
  return JSON.stringify(sorted(parseExact(json)));
}
