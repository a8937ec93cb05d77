import type { TraceEntry } from "@nova/engine";
import { askApi } from "../api/ask.ts";
import { followLogs } from "../api/follow-logs.ts";
import { entriesOf, notRun, readTrace } from "../api/recorded.ts";
import { exitCodes } from "../errors.ts";
import { LogLines } from "../output/log-lines.ts";
import { type Logged, loggedSoFar, logItem, logLines } from "../output/logs.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const logs: CliCommand = {
  declare: (command) =>
    command
      .summary("print what the code of an execution printed, node by node")
      .argument("<execution_id>")
      .option("--node <id>", "of this node alone")
      .option("--follow", "print what running code prints within a second, until the execution is over")
      .option("--json", "print one JSON object"),

  async run([id = ""], { node, follow, json }) {
    const wanted = typeof node === "string" ? node : undefined;
    const entries = follow ? await told(id, wanted, json === true) : await recorded(id);
    const shown = entries.filter(({ node_id }) => wanted === undefined || node_id === wanted);
    if (wanted !== undefined && shown.length === 0) throw notRun(wanted, id, entries);
    if (json) print(JSON.stringify({ execution_id: id, items: shown.map(logItem) }), true);
    else if (!follow) for (const entry of shown) for (const line of logLines(entry)) print(line);
    return exitCodes.completed;
  },
};

async function recorded(id: string): Promise<Logged[]> {
  const trace = await askApi((nova) => readTrace(nova, id, { full: true }));
  return [...entriesOf(trace), ...trace.atWork.nodes.flatMap(loggedSoFar)];
}

/** Prints what comes; answers the entries, without their logs where those are printed and need not be kept. */
async function told(id: string, node: string | undefined, json: boolean): Promise<TraceEntry[]> {
  const [entries, lines] = [[] as TraceEntry[], new LogLines()];
  await askApi(async (server) => {
    for await (const piece of followLogs(server, id, node)) {
      if (piece.kind === "ended") entries.push(kept(piece.entry, json));
      const isOther = piece.kind === "ended" && node !== undefined && piece.entry.node_id !== node;
      for (const line of json || isOther ? [] : lines.of(piece)) print(line);
    }
  });
  return entries;
}

/** Contexts, code and branches are the most of an entry, and nothing here wants them. */
function kept(
  { input_context: _, output_result: _after, code_executed: _code, branches: _in, ...entry }: TraceEntry,
  json: boolean,
): TraceEntry {
  return { ...entry, ...(!json && { steps: [], logs: null, traceback: null }) };
}
