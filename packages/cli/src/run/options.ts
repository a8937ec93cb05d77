import type { Command } from "commander";

/** What a run begins with, and for whom: as `nova run` and `nova start` take it. */
export function declareInputs(command: Command): Command {
  return command
    .option("--context <file.json>", "initial context, a JSON object")
    .option("--set <key=json>", "one value of the initial context (repeatable)", collect, [])
    .option("--file <key=path>", "bytes of a file under a key (repeatable)", collect, [])
    .option(
      "--client <slug>",
      "for whom it runs: variables and credentials are that client's, on a server pinned versions and quotas too",
    )
    .option("--frozen", "ask no model: prompt nodes run locked code, or fail");
}

export function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}
