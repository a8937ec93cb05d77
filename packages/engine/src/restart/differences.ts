import { type Member, parseExact, sorted } from "@nova/workflow";

/** A key that code set to another value than is recorded, as JSON text; null: it did not set it. */
export interface Difference {
  key: string;
  recorded: string | null;
  now: string | null;
}

/** What a node did to its context. */
export interface Output {
  set: readonly Member[];
  delete: readonly string[];
}

/** Where two outputs differ, in the order of the keys; the order inside of objects does not count, every digit does. */
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
