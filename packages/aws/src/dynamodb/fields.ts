import { CustomAttributeType } from "electrodb";

/** Attributes that many records have. */
export const text = { type: "string" } as const;
export const number = { type: "number" } as const;
export const requiredText = { type: "string", required: true } as const;
export const requiredNumber = { type: "number", required: true } as const;
/** The number of a version: its digits sort as numbers do. */
export const versionNumber = { type: "number", required: true, padding: { length: 10, char: "0" } } as const;
/** A value of any shape: ElectroDB does not look into it. */
export const value = <T>() => ({ type: CustomAttributeType<T>("any" as never) });
export const requiredValue = <T>() => ({ ...value<T>(), required: true as const });
