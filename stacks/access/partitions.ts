/** Patterns for the table's partition keys in IAM. packages/aws/README.md has a picture. */
export const chains = ["C#*"];
export const executions = ["E#*"];
/** Index of runs by their labels. */
export const labels = ["LABEL#*"];
export const tasks = ["T#*"];
/** Index of waiting tasks, and recent events. */
export const wakes = ["WAKE#*"];
/** The event fields that waiting tasks match. */
export const shapes = ["SHAPE#*"];
export const generations = ["G#*"];
export const workflows = ["W#*"];
export const triggers = ["TRIGGER#*"];
export const deliveries = ["DELIVERY#*"];
export const credentials = ["S#*"];
export const clients = ["CLIENT#*"];
export const keys = ["K#*"];
/** Counters of requests per key. */
export const rates = ["R#*"];
/** Idempotency records of requests. */
export const attempts = ["I#*"];
export const audit = ["A"];
/** Statistics of runs. */
export const figures = ["F#*"];
export const uploads = ["U#*"];
export const sessions = ["SESSION#*"];
export const queues = ["Q#*"];
/** Costs of models per client. */
export const spendings = ["M#*"];

/** Partitions that are erased with a client. Its chains, its executions and the audit log stay. */
export const erasable = [
  labels,
  tasks,
  wakes,
  credentials,
  clients,
  keys,
  generations,
  deliveries,
  rates,
  attempts,
  figures,
  uploads,
  sessions,
  spendings,
].flat();
