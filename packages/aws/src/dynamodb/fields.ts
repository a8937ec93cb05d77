import { CustomAttributeType } from "electrodb";

export const text = { type: "string" } as const;
export const requiredText = { type: "string", required: true } as const;

/** Builds a function that gives the same attribute definition to each name. */
const sameForAll =
  <const Kind>(kind: Kind) =>
  <const Name extends string>(...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, kind])) as Record<Name, Kind>;

export const texts = sameForAll(requiredText);
export const optionalTexts = sameForAll(text);
export const numbers = sameForAll({ type: "number", required: true });
export const optionalNumbers = sameForAll({ type: "number" });
/** The number of a version, padded so that keys sort numerically. */
export const versionNumber = { type: "number", required: true, padding: { length: 10, char: "0" } } as const;
/** A value that ElectroDB does not check. */
export const value = <T>() => ({ type: CustomAttributeType<T>("any" as never) });
export const requiredValue = <T>() => ({ ...value<T>(), required: true as const });
/** A value that is stored as JSON text, because DynamoDB maps cannot hold every JSON number and name. */
export const json = <T>() => ({
  ...value<T>(),
  set: (own?: T) => JSON.stringify(own) as T,
  get: (stored?: T): T | undefined => (stored === undefined ? undefined : JSON.parse(stored as string)),
});

type Absent = null | undefined;
/** Returns the fields without those that are null or undefined. */
export function omitAbsent<T extends object>(fields: T) {
  const stored = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  return stored as { [K in keyof T as Extract<T[K], Absent> extends never ? K : never]: T[K] } & {
    [K in keyof T as Extract<T[K], Absent> extends never ? never : K]?: Exclude<T[K], Absent>;
  };
}

/** A stored record that this version of the code cannot read. */
export class UnknownFormat extends Error {
  override name = "UnknownFormat";
}

/** Format number of every item in the table. */
export const FORMAT = 1;

/** Throws `UnknownFormat` for any other format; `what` names the record in the message. */
export function checkFormat(what: string, format: unknown): void {
  if (format === FORMAT) return;
  throw new UnknownFormat(`${what} is stored in format ${String(format)}, this version reads ${FORMAT} - update NOVA`);
}

/** Checks the format of an item and returns the item with the format as a literal type. */
export function requireFormat<T extends { format: number }>(
  what: string,
  item: T,
): Omit<T, "format"> & { format: typeof FORMAT } {
  const { format, ...rest } = item;
  checkFormat(what, format);
  return { ...rest, format: FORMAT };
}
