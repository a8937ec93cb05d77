import type { NovaClient } from "@nova/client";
import {
  asReference,
  asWritten,
  type BlobRef,
  type ExactValue,
  membersOf,
  parseExact,
  RawJson,
  renderJson,
  type TraceEntry,
  valueAt,
} from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi, readServerVariables } from "../api/ask.ts";
import { followLogs } from "../api/follow-logs.ts";
import {
  demandContent,
  isOpen,
  listEntries,
  notRunError,
  readBlob,
  readDiff,
  readTrace,
  readWhole,
} from "../api/recorded.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { writeNewFile } from "../files.ts";
import { mapMembers, mapObjects, mapValue } from "../input/context.ts";
import { diffLines } from "../output/diff.ts";
import { type Logged, LogLines, loggedSoFar, logItem, logLines } from "../output/logs.ts";
import { print, printBytes } from "../output/terminal.ts";
import { statusText } from "../output/text.ts";
import { traceLines, traceResult } from "../output/trace.ts";
import { command } from "./command.ts";
import { readNames } from "./names.ts";

export const trace = command({
  summary: "show the chain of work of an execution",
  takes: { "<execution_id>": "", "--full": "one line for every visit, with code, logs and changes" },
  async run([id = ""], { full = false, json }) {
    const [read, nameOf] = await askApi(async (nova) => {
      const trace = await readTrace(nova, id, { full });
      return [trace, await readNames(nova, json ? [] : [trace.workflow])] as const;
    });
    const found = asWritten(read);
    return { json: json ? renderJson(traceResult(found)) : "", text: json ? "" : traceLines(found, full, nameOf) };
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
    return { json: { execution_id: id, erased }, text: erased.map(erasedLine) };
  },
});

function erasedLine(id: string): string {
  const mails = readServerVariables() ? "" : ", with the mails about it in .nova/mail";
  return `${id} is erased${mails}, or will be within minutes`;
}

/**
 * Erases the executions with a label. The server erases a child execution together with its parent, and a restart
 * together with its source. So only the other executions need a request.
 */
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
      return [...listEntries(found), ...found.at_work.nodes.flatMap(loggedSoFar)];
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
 * Prints the output of a run as it arrives, and returns its entries. Without `json`, the returned entries have no logs,
 * because the logs are already printed.
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

/** Drops contexts, code and branches, the largest fields of an entry, because the command does not print them. */
function withoutContents(
  { input_context: _, output_result: _after, code_executed: _code, branches: _in, ...entry }: TraceEntry,
  json: boolean,
): TraceEntry {
  return { ...entry, ...(!json && { steps: [], logs: null, traceback: null }) };
}

export const diff = command({
  summary: "compare two executions node by node: path, definition, code, changes of the context, cost and time",
  takes: { "<a>": "an execution", "<b>": "another one, or one that was restarted from it" },
  json: "print one JSON object with every node, also unchanged ones",
  async run([a = "", b = ""], { json }) {
    const nodes = await askApi((nova) => readDiff(nova, a, b));
    return { json: json ? renderJson({ nodes }) : "", text: diffLines(nodes) };
  },
});

export const replay = command({
  summary: "run recorded code again on its recorded inputs, without network and credentials, and report differences",
  takes: {
    "<execution_id>": "",
    "--node <place>": "only this node: find, poll#2, each[3].find, billing/send; absent: all nodes without effects",
  },
  json: "print one JSON object; exit 1 if anything differs",
  async run([id = ""], { node }) {
    return (await import("../replay/replay.ts")).replayExecution(id, node);
  },
});

export const get = command({
  summary: "print a value of an execution's context, or save a file from it",
  takes: {
    "<execution_id>": "",
    "<key>": "dot path into the context: report, invoice.lines.0.total",
    "--into <file>": "write the value there: bytes and texts as they are, other values as JSON",
    "--force": "overwrite the file if it exists",
  },

  async run([execution = "", key = ""], { into, force, json }) {
    const value = await askApi((server) => readContextValue(server, execution, key));
    const content = "json" in value ? fileText(value.json) : value.bytes;
    const bytes = Buffer.byteLength(content);
    if (into !== undefined) await writeNewFile(into, content, { force });
    if (json || into !== undefined) {
      const text = `${into} has ${key} of ${execution}, ${bytes} bytes`;
      return { json: resultOf(defined({ execution_id: execution, key, into }), value), text };
    }
    if ("json" in value) print(value.json, true);
    else if (!printBytes(value.bytes)) {
      const wayOut = `nova get ${execution} ${shellWord(key)} --into ${shellWord(key)}`;
      throw new InvalidInput(`"${key}" is a file of ${bytes} bytes, not for a terminal - ${wayOut}`);
    }
    return undefined;
  },
});

/**
 * Builds the JSON result of `nova get`. For a file, the result contains the hash and the size, because JSON cannot
 * contain bytes.
 */
function resultOf(place: object, value: ContextValue): string {
  if (!("json" in value)) return JSON.stringify({ ...place, bytes: value.bytes.length, sha256: value.sha256 });
  return `${JSON.stringify(place).slice(0, -1)},"value":${value.json}}`;
}

/**
 * Returns the content to save. A text is saved without the quotes and escapes of JSON, so that other programs can read
 * the file. Any other value is saved as JSON.
 */
function fileText(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : `${json}\n`;
}

/** A value in a context: JSON text with exact digits, or the bytes of a file. */
export type ContextValue = { json: string } | { bytes: Uint8Array; sha256: string };

type Load = (sha256: string) => Promise<Uint8Array | null>;

/** Reads the value at a dot path of an execution's current context. Throws `InvalidInput`. */
export async function readContextValue(server: NovaClient, execution: string, key: string): Promise<ContextValue> {
  const run = await readWhole(server, execution);
  const { context } = run;
  const load: Load = (sha256) => readBlob(server, execution, sha256);
  const found = await valueIn({ json: context.text }, key.split("."), load);
  if (found !== undefined) {
    return "json" in found ? { json: asWritten(new RawJson(await wholeJson(found.json, load))).text } : found;
  }
  const keys = membersOf(context.text).map((member) => member.key);
  const soFar = `yet: it is ${run.status}, and values of branches arrive when all branches have ended`;
  const missing = `${execution} has no "${key}"${isOpen(run) ? ` ${soFar}` : ""}`;
  throw new InvalidInput(`${missing} - it has: ${keys.join(", ") || "nothing"}`);
}

/**
 * Finds the value at a path inside `value`. If the path leads through a large value, the function loads that value from
 * its blob.
 */
async function valueIn(value: ContextValue, path: readonly string[], load: Load): Promise<ContextValue | undefined> {
  if (!("json" in value)) return path.length === 0 ? value : undefined;
  const reference = referenceIn(value.json);
  if (reference) return valueIn(await loadReference(reference, load), path, load);
  const [step, ...rest] = path;
  if (step === undefined) return value;
  // A record adds a `$` to a key of user data that looks like `$blob`. Users type the key without this `$`.
  const json = (/^\$+blob$/.test(step) ? valueAt(value.json, [`$${step}`]) : undefined) ?? valueAt(value.json, [step]);
  return json === undefined ? undefined : valueIn({ json }, rest, load);
}

function referenceIn(json: string): BlobRef | undefined {
  return json.startsWith('{"$blob"') ? asReference(JSON.parse(json)) : undefined;
}

async function loadReference(reference: BlobRef, load: Load): Promise<ContextValue> {
  const { sha256, type } = reference;
  const bytes = await load(sha256);
  if (bytes === null) throw new InvalidInput(`the bytes ${sha256} were erased, so the value is gone`);
  demandContent(reference, bytes);
  if (type === "bytes") return { bytes, sha256 };
  const text = Buffer.from(bytes).toString();
  return { json: type === "json" ? text : JSON.stringify(text) };
}

/** Replaces references to large texts and lists by their content. References to bytes stay. */
async function wholeJson(json: string, load: Load): Promise<string> {
  if (!json.includes('"$blob"')) return json;
  return mapObjects(json, async function visit(value): Promise<ExactValue> {
    const reference = referenceIn(JSON.stringify(value));
    if (!reference) return mapMembers(value, visit);
    if (reference.type === "bytes") return value;
    const inside = await loadReference(reference, load);
    return mapValue(parseExact("json" in inside ? inside.json : "null"), visit);
  });
}
