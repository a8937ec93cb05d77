/** Keys and indexes of NOVA's table, for `createTable` and for the deployment. */
export const tableDefinition = {
  partitionKey: "pk",
  sortKey: "sk",
  /** All keys are strings. All indexes project every attribute. */
  indexes: [
    { name: "by-workflow", partitionKey: "workflowKey", sortKey: "ordered" },
    { name: "by-client", partitionKey: "clientKey", sortKey: "ordered" },
    { name: "open", partitionKey: "open", sortKey: "ordered" },
  ],
} as const;
