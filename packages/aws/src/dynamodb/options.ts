/** ElectroDB wraps errors, and takes a stack trace for that with every call: half of what it costs. */
export const plainly = { originalErr: true } as const;

export const consistently = { ...plainly, consistent: true } as const;

/** What an outage is told of. */
export const store = "DynamoDB";
