import type { TraceEntry } from "@nova/engine";
import { exitCodes } from "../errors.ts";
import { logItem, logLines } from "../output/logs.ts";
import { print } from "../output/terminal.ts";
import { entriesOf, followTrace } from "../records/follow-trace.ts";
import { notRun } from "../records/not-run.ts";
import { withRecords } from "../records/with-records.ts";
import type { CliCommand } from "./command.ts";

export const logs: CliCommand = {
  declare: (command) =>
    command
      .summary("print what the code of an execution printed, node by node")
      .argument("<execution_id>")
      .option("--node <id>", "of this node alone")
      .option("--follow", "go on until the execution is over; a node's logs come when it is done")
      .option("--json", "print one JSON object"),

  async run([id = ""], { node, follow, json }) {
    const wanted = ({ node_id }: { node_id: string }) => node === undefined || node_id === node;
    await withRecords(async (records) => {
      const told = new Map<string, TraceEntry>();
      const traces = follow ? followTrace(records, id) : [await records.trace(id, { full: true })];
      for await (const trace of traces) {
        const fresh = entriesOf(trace).filter((entry) => !told.has(nameOf(entry)));
        for (const entry of fresh) told.set(nameOf(entry), entry);
        for (const entry of json ? [] : fresh.filter(wanted)) for (const line of logLines(entry)) print(line);
      }
      const entries = Array.from(told.values());
      if (node !== undefined && !entries.some(wanted)) throw notRun(node, id, entries);
      if (json) print(JSON.stringify({ execution_id: id, items: entries.filter(wanted).map(logItem) }), true);
    });
    return exitCodes.completed;
  },
};

function nameOf({ scope, seq }: TraceEntry): string {
  return `${scope}#${seq}`;
}
