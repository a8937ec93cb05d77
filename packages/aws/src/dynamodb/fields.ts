import { CustomAttributeType } from "electrodb";

export const text = { type: "string" } as const;
export const requiredText = { type: "string", required: true } as const;

/** Attributes of one kind, by their names. */
const all =
  <const Kind>(kind: Kind) =>
  <const Name extends string>(...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, kind])) as Record<Name, Kind>;

export const texts = all(requiredText);
export const optionalTexts = all(text);
export const numbers = all({ type: "number", required: true });
export const optionalNumbers = all({ type: "number" });
/** The number of a version: its digits sort as numbers do. */
export const versionNumber = { type: "number", required: true, padding: { length: 10, char: "0" } } as const;
/** A value of any shape: ElectroDB does not look into it. */
export const value = <T>() => ({ type: CustomAttributeType<T>("any" as never) });
export const requiredValue = <T>() => ({ ...value<T>(), required: true as const });
/** A value that is stored as JSON text: DynamoDB has other numbers and names than JSON. Maps are of earlier releases. */
export const json = <T>() => ({
  ...value<T>(),
  set: (own?: T) => JSON.stringify(own) as T,
  get: (stored?: T): T | undefined => (typeof stored === "string" ? JSON.parse(stored) : stored),
});

type Absent = null | undefined;
/** The fields that an item has: what is null or undefined is not stored. */
export function present<T extends object>(fields: T) {
  const stored = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  return stored as { [K in keyof T as Extract<T[K], Absent> extends never ? K : never]: T[K] } & {
    [K in keyof T as Extract<T[K], Absent> extends never ? never : K]?: Exclude<T[K], Absent>;
  };
}

/** A stored record that this version of the code cannot read. */
export class UnknownFormat extends Error {
  override name = "UnknownFormat";
}

/** Number of the stored formats written today, but for those that say otherwise; older ones are read for ever. */
export const FORMAT = 1;

export function checkFormat(what: string, format: unknown, reads: readonly number[] = [FORMAT]): void {
  if (reads.some((known) => known === format)) return;
  const known = reads.join(" and ");
  throw new UnknownFormat(`${what} is stored in format ${String(format)}, this version reads ${known} - update NOVA`);
}

/** An item that has been read, with the number of its format as a literal. */
export function current<T extends { format: number }>(
  what: string,
  item: T,
): Omit<T, "format"> & { format: typeof FORMAT } {
  const { format, ...rest } = item;
  checkFormat(what, format);
  return { ...rest, format: FORMAT };
}
