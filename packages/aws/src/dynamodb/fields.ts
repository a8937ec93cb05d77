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
