/** Whoever everything without a client belongs to; there is no record of it, and no quota. */
export const defaultClient = "default";
