import type { TraceEntry } from "@nova/engine";
import { askApi, readServerVariables } from "../api/ask.ts";
import { followLogs } from "../api/follow-logs.ts";
import { listEntries, notRunError, readTrace } from "../api/recorded.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { LogLines } from "../output/log-lines.ts";
import { type Logged, loggedSoFar, logItem, logLines } from "../output/logs.ts";
import { print } from "../output/terminal.ts";
import { statusText } from "../output/text.ts";
import { command } from "./command.ts";

export const trace = command({
  summary: "show the chain of work of an execution",
  takes: { "<execution_id>": "", "--full": "one line for every visit, with code, logs and changes" },
  async run([id = ""], { full = false, json }) {
    const { asWritten, renderJson } = await import("@nova/engine");
    const { traceLines, traceResult } = await import("../output/trace.ts");
    const found = asWritten(await askApi((nova) => readTrace(nova, id, { full })));
    return { json: json ? renderJson(traceResult(found)) : "", text: json ? "" : traceLines(found, full) };
  },
});

export const cancel = command({
  summary: "stop an execution; if it is over, print its final status",
  takes: { "<execution_id>": "" },
  async run([id = ""]) {
    const { status } = await askApi((server) => server.executions.cancel(id));
    return { json: { execution_id: id, status }, text: `${id}: ${statusText(status)}` };
  },
});

export const erase = command({
  summary: "erase the data of an execution and of its restarts; the proofs stay",
  takes: { "[execution_id]": "", "--label <name=value>": "every execution with this label, such as order=PO-10" },
  async run([id], { label }) {
    if ((id === undefined) === (label === undefined))
      throw new InvalidInput("nova erase needs either an execution or a label - name one of them");
    if (label !== undefined) return eraseLabelled(label);
    const { erased } = await askApi((server) => server.executions.erase(id as string));
    const text = erased.map(erasedLine);
    return { json: { execution_id: id, erased }, text };
  },
});

function erasedLine(id: string): string {
  const mails = readServerVariables() ? "" : ", with the mails about it in .nova/mail";
  return `${id} is erased${mails}, or will be within minutes`;
}

/** A child execution is erased with its parent, and a restart with its source. */
async function eraseLabelled(label: string) {
  const erased = new Set<string>();
  await askApi(async (server) => {
    const runs = await Array.fromAsync(server.executions.list({ label }));
    for (const { execution_id, parent } of runs.reverse()) {
      if (parent || erased.has(execution_id)) continue;
      for (const one of (await server.executions.erase(execution_id)).erased) erased.add(one);
    }
  });
  const text = [...erased].map(erasedLine);
  return {
    json: { label, erased: [...erased] },
    text: text.length > 0 ? text : [`no execution has the label ${label}`],
  };
}

export const logs = command({
  summary: "print the output of an execution's code, node by node",
  takes: {
    "<execution_id>": "",
    "--node <id>": "only of this node",
    "--follow": "print the output of running code within a second, until the execution is over",
  },
  async run([id = ""], { node, follow, json = false }) {
    const read = async (): Promise<Logged[]> => {
      const found = await askApi((nova) => readTrace(nova, id, { full: true }));
      return [...listEntries(found), ...found.atWork.nodes.flatMap(loggedSoFar)];
    };
    const entries = follow ? await printFollowed(id, node, json) : await read();
    const shown = entries.filter(({ node_id }) => node === undefined || node_id === node);
    if (node !== undefined && shown.length === 0) throw notRunError(node, id, entries);
    const lines = follow ? [] : shown.flatMap(logLines);
    if (!json && lines.length === 0) return exitCodes.completed;
    return { json: { execution_id: id, items: shown.map(logItem) }, text: lines };
  },
});

/**
 * Prints output as it arrives, and returns the entries. Without `json` they have no logs, which are already printed.
 */
async function printFollowed(id: string, node: string | undefined, json: boolean): Promise<TraceEntry[]> {
  const [entries, lines] = [[] as TraceEntry[], new LogLines()];
  await askApi(async (server) => {
    for await (const piece of followLogs(server, id, node)) {
      if (piece.kind === "ended") entries.push(withoutContents(piece.entry, json));
      const isOther = piece.kind === "ended" && node !== undefined && piece.entry.node_id !== node;
      for (const line of json || isOther ? [] : lines.of(piece)) print(line);
    }
  });
  return entries;
}

/** Drops contexts, code and branches, the largest fields, because the command does not print them. */
function withoutContents(
  { input_context: _, output_result: _after, code_executed: _code, branches: _in, ...entry }: TraceEntry,
  json: boolean,
): TraceEntry {
  return { ...entry, ...(!json && { steps: [], logs: null, traceback: null }) };
}
