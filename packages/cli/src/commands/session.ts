import { readFile } from "node:fs/promises";
import type { NovaClient, Session, SessionRun } from "@nova/client";
import { jsonProblem, membersOf, RawJson, renderJson } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { askApi, askApiAndStay } from "../api/ask.ts";
import { type ExitCode, exitCodes, InvalidInput } from "../errors.ts";
import { readContext, splitPair, utf8 } from "../input/context.ts";
import { type CommandOutput, print, printOutput } from "../output/terminal.ts";
import { listed, tableLines } from "../output/text.ts";
import { actionOf, command } from "./command.ts";
import { readVersion } from "./versions.ts";

const actions = ["new", "show", "set", "check", "run", "edit", "publish", "list", "delete"] as const;

export const session = command({
  summary: "build a workflow step by step: run its nodes, change them and their outputs, run stale nodes",
  takes: {
    "<new|show|set|check|run|edit|publish|list|delete>": "what to do",
    "[session]": "the session; with new: a workflow to copy",
    "[node]": "with set, check, edit: the node; with run: only this node",
    "--run <execution>": "with new: repeat one node of this run with the context that it had",
    "--place <place>": "with --run: the place, such as find or each[3].find; absent: the node that failed the run",
    "--set <key=json>": {
      says: "with new: a value of the context; with set: a field of the node, or without a node of the workflow (repeatable)",
      each: true,
    },
    "--text <key=path>": {
      says: "with set: a field with the text of a file, such as prompt=brief.md (repeatable)",
      each: true,
    },
    "--after <node>": { says: "with set: add an edge from this node (repeatable)", each: true },
    "--remove": "with set: delete the node",
    "--output <json>": "with edit: an object of keys and values, or the value of the only key that the node sets",
    "--version <number>": "with new: of the workflow; with set, edit: the version of the node that you have read",
    "--name <text>": "with new, publish: a name for people",
    "--client <slug>": "with new, list: the client",
    "--retention-days <n>": "with new: the session ends after this many days; absent: 30",
    "--as <workflow>": "with publish: the workflow that gets the next version",
    "--dry-run": "with publish: only list the findings",
  },
  async run([asked, id, node], options) {
    const action = actionOf("session", actions, asked);
    if (action === "new") return create(id, options);
    if (action === "list") return list(options.client);
    if (id === undefined)
      throw new InvalidInput(`nova session ${action} needs a session - nova session list shows them`);
    if (action === "run") return run(id, node, options.json);
    if (action === "show") return askApi(async (nova) => describeSession(nova, await nova.sessions.get(id)));
    if (action === "delete") {
      await askApi((nova) => nova.sessions.delete(id));
      return { json: { session_id: id, deleted: true }, text: `session ${id} is deleted; its executions stay` };
    }
    if (action === "publish") return publish(id, options);
    if (action === "set" && node === undefined && options.set.length > 0) return setWorkflow(id, options.set);
    if (node === undefined) throw new InvalidInput(`nova session ${action} needs a node after the session`);
    if (action === "check") return check(id, node);
    const read = defined({ version: options.version === undefined ? undefined : readVersion(options.version) });
    return action === "set" ? set(id, node, options, read) : edit(id, node, options.output, read);
  },
});

type NewOptions = { set: string[] } & Record<
  "version" | "name" | "client" | "retentionDays" | "run" | "place",
  string | undefined
>;

async function create(workflow: string | undefined, options: NewOptions): Promise<CommandOutput> {
  const context = options.set.length > 0 ? new RawJson(await readContext(undefined, options.set)) : undefined;
  const request = defined({
    workflow,
    name: options.name,
    client_slug: options.client,
    run: options.run,
    place: options.place,
    context,
    version: options.version === undefined ? undefined : readVersion(options.version),
    retention_days: options.retentionDays === undefined ? undefined : Number(options.retentionDays),
  });
  return askApi(async (nova) => describeSession(nova, await nova.sessions.create(request)));
}

async function list(client: string | undefined): Promise<CommandOutput> {
  const items = await askApi((nova) => Array.fromAsync(nova.sessions.list(defined({ client }))));
  const columns = { session: "session_id", name: "name", client: "client_slug", ends: "expires_at" } as const;
  return listed(items, { columns, empty: "no sessions - nova session new makes one" });
}

type SetOptions = Record<"set" | "text" | "after", string[]> & { remove: true | undefined };

async function set(id: string, node: string, options: SetOptions, read: { version?: number }): Promise<CommandOutput> {
  const fields = await readFields(options);
  return askApi(async (nova) => {
    const { sessions } = nova;
    if (options.remove) return describeSession(nova, await sessions.deleteNode(id, node, read));
    const { nodes, inside } = await sessions.get(id);
    const known = [...nodes, ...inside].map(({ node_id }) => node_id);
    const isThere = known.includes(node);
    // The command checks the edges before it adds the node. Otherwise a node with a refused edge would stay in the
    // session.
    const unknown = options.after.find((from) => !known.includes(from));
    if (unknown !== undefined)
      throw new InvalidInput(`the session has no node "${unknown}" - it has ${known.join(", ") || "none yet"}`);
    const map = inside.find(({ node_id }) => node_id === options.after[0])?.map;
    if (!isThere) await sessions.addNode(id, { ...fields, id: node }, defined({ map }));
    else if (Object.keys(fields).length > 0) await sessions.changeNode(id, node, fields, read);
    for (const from of options.after) await sessions.addEdge(id, { from, to: node });
    return describeSession(nova, await sessions.get(id));
  });
}

/** Sets fields of the workflow, such as its triggers; null removes a field. */
async function setWorkflow(id: string, pairs: readonly string[]): Promise<CommandOutput> {
  const fields = JSON.parse(await readContext(undefined, [...pairs])) as Record<string, unknown>;
  return askApi(async (nova) => {
    const operations = [{ op: "change_settings" as const, changes: fields }];
    return describeSession(nova, await nova.sessions.edit(id, { operations }));
  });
}

async function check(id: string, node: string): Promise<CommandOutput> {
  const checked = await askApi((nova) => nova.sessions.check(id, node));
  const { findings, prompt } = checked;
  const isValid = findings.every(({ severity }) => severity !== "error");
  const lines = findings.map(({ severity, code, path, line, message }) => {
    const place = line === undefined ? path : `${path} line ${line}`;
    return `${severity} ${code} ${place}: ${message}`;
  });
  const missing = (prompt?.references ?? []).flatMap(({ reference, value }) =>
    value === null ? [`${reference} has no value`] : [],
  );
  const verdict = `${node} is ${isValid ? "valid" : "not valid"}`;
  return {
    json: checked,
    text: [...(prompt ? [prompt.text] : []), ...missing, ...lines, verdict],
    code: isValid ? exitCodes.completed : exitCodes.invalid,
  };
}

async function readFields({ set, text }: SetOptions): Promise<Record<string, unknown>> {
  const fields = JSON.parse(await readContext(undefined, set)) as Record<string, unknown>;
  for (const pair of text) {
    const [key, path] = splitPair(pair, "--text", "path");
    fields[key] = utf8(await readFile(path), `"${path}" is no text - name a file in UTF-8`);
  }
  return fields;
}

async function edit(
  id: string,
  node: string,
  output: string | undefined,
  read: { version?: number },
): Promise<CommandOutput> {
  if (output === undefined) throw new InvalidInput("nova session edit needs --output, a JSON value");
  const problem = jsonProblem(output);
  if (problem !== undefined)
    throw new InvalidInput(`--output is not JSON: it ${problem} - quote texts: --output '"a text"'`);
  return askApi(async (nova) => {
    await nova.sessions.writeOutput(id, node, new RawJson(output), read);
    return describeSession(nova, await nova.sessions.get(id));
  });
}

async function run(id: string, node: string | undefined, json: true | undefined): Promise<ExitCode | undefined> {
  let code: ExitCode | undefined;
  await askApiAndStay(async (nova) => {
    const { sessions, executions } = nova;
    const started = node === undefined ? await sessions.run(id) : await sessions.runNode(id, node);
    const { execution_id: execution } = started;
    if (!json) print(summaryOf(started));
    const ended = execution === null ? "completed" : (await executions.untilEnded(execution)).status;
    const after = await describeSession(nova, await sessions.get(id));
    code = ended === "completed" ? exitCodes.completed : exitCodes.failed;
    printOutput({ ...after, json: { ...started, status: ended } }, json);
    return execution === null ? [] : [execution];
  });
  return code;
}

function summaryOf({ execution_id: execution, runs, reused, shape_why: why, error }: SessionRun): string {
  if (execution === null) return "every node is fresh, so none runs";
  const taken = reused.length === 0 ? "" : `; reuses ${reused.join(", ")}`;
  const failed = error ? `\n${error.node} failed: ${error.message}` : "";
  return `${execution} runs ${runs.join(", ")}${taken}${why === null ? "" : `\n${why}`}${failed}`;
}

async function publish(
  id: string,
  { as, name, dryRun }: { as: string | undefined; name: string | undefined; dryRun: true | undefined },
): Promise<CommandOutput> {
  if (dryRun) {
    const checked = await askApi((nova) => nova.sessions.checkPublication(id, defined({ workflow: as, name })));
    const lines = checked.findings.map(({ severity, code, message }) => `${severity} ${code}: ${message}`);
    const code = checked.valid ? exitCodes.completed : exitCodes.invalid;
    return { json: checked, text: [...lines, `${checked.id} is ${checked.valid ? "valid" : "not valid"}`], code };
  }
  const published = await askApi((nova) => nova.sessions.publish(id, defined({ workflow: as, name })));
  return { json: published, text: `version ${published.version} of ${published.id} is ${published.status}` };
}

async function describeSession(nova: NovaClient, session: Session): Promise<CommandOutput> {
  const { outputs } = await nova.sessions.outputs(session.session_id);
  const firstLine = (output: unknown): string => {
    const members = output instanceof RawJson ? membersOf(output.text) : [];
    const [only, ...others] = members;
    const text = only && others.length === 0 ? only.json : renderJson(output);
    const value = text.startsWith('"') ? (JSON.parse(text) as string) : text;
    return value.split("\n", 1)[0]?.slice(0, 100) ?? "";
  };
  const rows = outputs.map(({ node_id, version, state, skipped, output, error }) => {
    const summary = skipped ? "(no edge leads to it)" : (error ?? (output === null ? "" : firstLine(output)));
    return [node_id, String(version), state, summary];
  });
  const empty = `no nodes yet - nova session set ${session.session_id} <node> --set ... adds one`;
  const text = rows.length === 0 ? [empty] : tableLines(["node", "version", "state", "output"], rows);
  const findings = session.shape.findings.map(({ message }) => message);
  return {
    json: renderJson(session),
    text: [`${session.session_id}  ${session.name}, until ${session.expires_at}`, ...text, ...findings],
  };
}
