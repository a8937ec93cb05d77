/** Attributes of ElectroDB's entities that many have. */
export const text = { type: "string" } as const;
export const requiredText = { type: "string", required: true } as const;
export const requiredNumber = { type: "number", required: true } as const;
