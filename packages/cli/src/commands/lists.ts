import type { AuditRecord, Delivery, Execution, Task } from "@nova/client";
import type { RawJson } from "@nova/engine";
import { askApi } from "../api/ask.ts";
import { listed, readCount } from "../api/first-items.ts";
import { InvalidInput } from "../errors.ts";
import { figureTable, told } from "../output/table.ts";
import { cell, duration, statusText, strangersText } from "../output/text.ts";
import { command, oneOf } from "./command.ts";

const limited = { "--limit <number>": { says: "at most so many", absent: "100" } } as const;

export const audit = command({
  summary: "list who did what, newest first",
  takes: { "--client <slug>": "only what was about this client", ...limited },
  async run(_, { client, limit }) {
    const header = ["when", "what", "of", "client", "by", ""];
    const items = await listed("/audit", readCount("--limit", limit), { client });
    return told(items, { header, rowOf: auditRow, empty: "nobody has done anything that is written down" });
  },
});

function auditRow({ at, action, subject, client_slug, by, detail }: AuditRecord): string[] {
  const details = Object.entries(detail).map(([name, value]) => `${name} ${value}`);
  return [at, action, subject, client_slug ?? "", by ?? "", details.join(", ")];
}

const outcomes = ["accepted", "started", "refused", "failed"] as const;

export const deliveries = command({
  summary: "list what came in for triggers, newest first: mails, requests, times, events",
  takes: {
    "--workflow <id>": "only for this workflow",
    "--client <slug>": "only for this client",
    "--status <status>": `only these: ${outcomes.join(", ")}`,
    "--label <name=value>": "only those whose runs have this label, such as order=PO-10",
    ...limited,
  },
  async run(_, { workflow, client, status, label, limit }) {
    const query = { workflow, client, status: oneOf("status", outcomes, status), label };
    const header = ["when", "kind", "workflow", "client", "status", "from", "about", "", "labels"];
    const items = await listed("/deliveries", readCount("--limit", limit), query);
    return told(items, { header, rowOf: deliveryRow, empty: "nothing has come in for a trigger" });
  },
});

/** Last the run that was started, or why there is none. */
function deliveryRow(delivery: Delivery): string[] {
  const { at, type, workflow, client_slug, status, from, about, execution_id, reason, labels } = delivery;
  const outcome = execution_id ?? reason ?? "";
  return [
    at,
    type,
    workflow ?? "",
    client_slug ?? "",
    status,
    ...[from, about, outcome, labelsText(labels)].map((text) => cell(text)),
  ];
}

const statuses = ["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"] as const;

export const executions = command({
  summary: "list executions, newest first",
  takes: {
    "--workflow <id>": "only of this workflow",
    "--client <slug>": "only of this client",
    "--status <status>": `only these: ${statuses.join(", ")}`,
    "--error <class>": "only those that an error of this class ended, such as NodeTimeout",
    "--trigger <id>": "only those that this trigger started",
    "--label <name=value>": "only those with this label, such as order=PO-10",
    ...limited,
  },
  async run(_, { workflow, client, status, error: error_class, trigger, label, limit }) {
    const query = { workflow, client, status: oneOf("status", statuses, status), error_class, trigger, label };
    const header = ["execution", "workflow", "version", "client", "status", "started", "time", "labels"];
    const items = (await listed("/executions", readCount("--limit", limit), query)).map(executionItem);
    return told(items, { header, rowOf: executionRow, empty: "no executions - nova run <folder> makes one" });
  },
});

function executionItem({
  execution_id,
  workflow,
  version,
  client,
  status,
  started_at,
  duration_ms,
  labels,
}: Execution) {
  return { execution_id, workflow, version, client, status, started_at, duration_ms, labels };
}

function executionRow({ status, duration_ms, version, ...one }: ReturnType<typeof executionItem>): string[] {
  const time = duration_ms === null ? "" : duration(duration_ms);
  return [
    one.execution_id,
    one.workflow,
    String(version),
    one.client,
    statusText(status),
    one.started_at,
    time,
    cell(labelsText(one.labels)),
  ];
}

/** As `--label` takes them. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}

type AgedTask = Task & { age_seconds: number };

/** How each kind is listed. What others sent must not steer the terminal. */
const kinds = {
  approval: {
    header: ["task", "execution", "workflow", "client", "node", "choices", "age", "until", "message"],
    rowOf: (task: AgedTask) => [
      ...[task.task_id, ...placeOf(task), task.choices.join("|")],
      ...[...timesOf(task), cell(task.message)],
    ],
    empty: "nothing waits for an answer - nova tasks --kind event lists what waits for an event",
  },
  event: {
    header: ["execution", "workflow", "client", "node", "age", "until", "pattern"],
    rowOf: (task: AgedTask) => [...placeOf(task), ...timesOf(task), cell((task.pattern as RawJson | null)?.text ?? "")],
    empty: "nothing waits for an event",
  },
};

export const tasks = command({
  summary: "list what waits for somebody's answer, or for an event, oldest first",
  takes: { "--kind <kind>": { says: "event: for an event; absent: for an answer", choices: ["approval", "event"] } },
  async run(_, { kind = "approval" }) {
    const items = await askApi((server) => Array.fromAsync(server.tasks.list({ kind })));
    const now = Date.now();
    const aged = items.map((task) => {
      // Clocks differ: nobody has waited for less than nothing.
      return { ...task, age_seconds: Math.max(0, Math.floor((now - Date.parse(task.created_at)) / 1000)) };
    });
    const { renderJson } = await import("@nova/engine");
    const { json, text } = told(aged, kinds[kind]);
    const unmailed = items.flatMap(({ execution_id, node, mail }) => {
      if (!mail?.problem) return [];
      return `${node} of ${execution_id}: no mail went out to ${mail.to.join(", ")}: ${strangersText(mail.problem)}`;
    });
    return { json: renderJson(json), text: [text, unmailed].flat() };
  },
});

function placeOf({ execution_id, workflow, client, node }: Task): string[] {
  return [execution_id, workflow, client ?? "", node];
}

function timesOf({ age_seconds, expires_at }: AgedTask): string[] {
  return [duration(age_seconds * 1000), expires_at];
}

const reports = ["workflows", "nodes", "errors", "ai-cost"] as const;

export const analytics = command({
  summary: "print figures of runs that have ended: how many, how long, what went wrong, what models cost",
  takes: {
    "<workflows|nodes|errors|ai-cost>": "by what",
    "--from <time>": "runs that ended then or later: 2026-11-01, or a time in ISO 8601; absent: 30 days ago",
    "--to <time>": "runs that ended then or earlier; a date means all of that day",
    "--workflow <id>": "only of this workflow",
    "--client <slug>": "only of this client",
  },
  async run([name], { from, to, workflow, client }) {
    const report = reports.find((one) => one === name);
    if (!report) throw new InvalidInput(`there are no figures of "${name}" - ${reports.join(", ")}`);
    const query = { from, to, workflow, client };
    const items = await listed(`/analytics/${report}`, Infinity, query);
    const none = "no figures - they are of runs that have ended in this time";
    return { json: { items }, text: items.length === 0 ? none : figureTable(items) };
  },
});
