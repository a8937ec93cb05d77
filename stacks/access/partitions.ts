/** Partition keys of the table, as patterns of IAM; packages/aws/README.md has the picture. */
export const chains = ["C#*"];
export const executions = ["E#*"];
/** Where runs are found by their labels. */
export const labels = ["LABEL#*"];
export const tasks = ["T#*"];
/** What wakes tasks, and recent events. */
export const wakes = ["WAKE#*"];
/** Which values of events those are. */
export const shapes = ["SHAPE#*"];
export const generations = ["G#*"];
export const workflows = ["W#*"];
export const triggers = ["TRIGGER#*"];
export const deliveries = ["DELIVERY#*"];
export const credentials = ["S#*"];
export const clients = ["CLIENT#*"];
export const keys = ["K#*"];
/** Requests of keys, counted. */
export const rates = ["R#*"];
/** Requests that may be repeated. */
export const attempts = ["I#*"];
export const audit = ["A"];
/** Figures of runs. */
export const figures = ["F#*"];
export const uploads = ["U#*"];
export const sessions = ["SESSION#*"];
export const queues = ["Q#*"];
/** What models have cost clients. */
export const spendings = ["M#*"];

/** What goes with a client whose name it has; its chains, its executions and what people did stay. */
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
