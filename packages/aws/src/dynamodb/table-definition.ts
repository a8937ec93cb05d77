/** What the one table looks like. Data, so that a deployment can make it from the same words. */
export const tableDefinition = {
  partitionKey: "pk",
  sortKey: "sk",
  /** All keys are strings, all indexes project everything, none is read consistently. */
  indexes: [
    { name: "by-workflow", partitionKey: "workflowKey", sortKey: "ordered" },
    { name: "by-client", partitionKey: "clientKey", sortKey: "ordered" },
    { name: "open", partitionKey: "open", sortKey: "ordered" },
  ],
} as const;
