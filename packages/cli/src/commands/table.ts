import type { CliCommand } from "./command.ts";

/** Every command, loaded when it is asked for: a command pays only for what it needs itself. */
export const commands: Record<string, () => Promise<CliCommand>> = {
  init: async () => (await import("./init.ts")).init,
  run: async () => (await import("./run.ts")).run,
  publish: async () => (await import("./publish.ts")).publish,
  validate: async () => (await import("./validate.ts")).validate,
  check: async () => (await import("./check.ts")).check,
  compile: async () => (await import("./compile.ts")).compile,
  lock: async () => (await import("./lock.ts")).lock,
  trace: async () => (await import("./trace.ts")).trace,
  logs: async () => (await import("./logs.ts")).logs,
  pull: async () => (await import("./pull.ts")).pull,
  verify: async () => (await import("./verify.ts")).verify,
  executions: async () => (await import("./executions.ts")).executions,
  tasks: async () => (await import("./tasks.ts")).tasks,
  approve: async () => (await import("./approve.ts")).approve,
  emit: async () => (await import("./emit.ts")).emit,
  cancel: async () => (await import("./cancel.ts")).cancel,
  credentials: async () => (await import("./credentials.ts")).credentials,
  keys: async () => (await import("./keys.ts")).keys,
  export: async () => (await import("./export.ts")).exportAll,
  import: async () => (await import("./import.ts")).importAll,
  bench: async () => (await import("./bench.ts")).bench,
  template: async () => (await import("./template.ts")).template,
  dev: async () => (await import("./dev.ts")).dev,
  local: async () => (await import("./local.ts")).local,
};
