import {
  type AuditRecord,
  type Client,
  type Delivery,
  type Execution,
  formatDuration,
  type Key,
  type Schemas,
  type Task,
  type Workflow,
} from "@nova/client";
import type { RawJson } from "@nova/engine";
import { renderJson } from "@nova/engine";
import type { Role } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { askApi, readCount, readItems } from "../api/ask.ts";
import { nullIfMissing } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";
import { printError, styled } from "../output/terminal.ts";
import { cell, figureTable, type ListShape, listed, statusText, untrustedLine } from "../output/text.ts";
import { withKeys } from "./access.ts";
import { command, oneOf, runAction } from "./command.ts";
import { readNamedItems } from "./names.ts";

/**
 * This file defines the commands that list resources. Each list has a `ListShape` below: its columns and the sentence
 * for an empty list.
 */

const limited = { "--limit <number>": { says: "the largest number of items", absent: "100" } } as const;

const auditList: ListShape<AuditRecord> = {
  columns: {
    when: "at",
    what: "action",
    of: "subject",
    client: "client_slug",
    by: "by",
    details: ({ detail }) => pairsText(detail, " "),
  },
  empty: "no audit records",
};

export const audit = command({
  summary: "list audit records, newest first: who did what",
  takes: { "--client <slug>": "only records about this client", ...limited },
  async run(_, { client, limit }) {
    return listed(await readItems("/audit", readCount("--limit", limit), { client }), auditList);
  },
});

type RootItem = Schemas["Root"];

const rootList: ListShape<RootItem> = {
  columns: { root: "number", when: "at", runs: "size", stamped: stampText, tree: "tree" },
  empty: "no roots - the first one is made within an hour after a run has closed, or by nova roots --now",
};

export const roots = command({
  summary: "list the signed roots of the Merkle trees of closed runs, newest first, or make one now",
  takes: { "--now": "make a root over the runs that have closed since the last one", ...limited },
  async run(_, { now, limit }) {
    if (!now) return listed(await readItems("/roots", readCount("--limit", limit), {}), rootList);
    const root = await askApi((nova) => nova.makeRoot());
    return {
      json: root,
      text: `root ${root.number} of ${root.at}: ${root.size} ${root.size === 1 ? "run" : "runs"}, ${root.stamped_at === null ? "" : "stamped at "}${stampText(root)}`,
    };
  },
});

function stampText({ stamped_at, delay_ms }: RootItem): string {
  if (stamped_at === null) return "not stamped";
  return delay_ms === null || delay_ms < 60_000
    ? stamped_at
    : `${stamped_at}, ${formatDuration(delay_ms)} after the root`;
}

const outcomes = ["accepted", "started", "refused", "failed"] as const;

const deliveryList: ListShape<Delivery> = {
  columns: {
    when: "at",
    kind: "type",
    workflow: ({ workflow }, nameOf) => workflow && nameOf(workflow),
    client: "client_slug",
    status: "status",
    from: ({ from }) => cell(from),
    about: ({ about }) => cell(about),
    "run or reason": ({ execution_id, reason }) => cell(execution_id ?? reason ?? ""),
    labels: ({ labels }) => cell(labelsText(labels)),
  },
  empty: "no deliveries",
};

export const deliveries = command({
  summary: "list deliveries to triggers, newest first: mails, requests, times, events",
  takes: {
    "--workflow <id>": "only for this workflow",
    "--client <slug>": "only for this client",
    "--status <status>": `only with this status: ${outcomes.join(", ")}`,
    "--label <name=value>": "only if their runs have this label, such as order=PO-10",
    ...limited,
  },
  async run(_, { workflow, client, status, label, limit, json }) {
    const query = { workflow, client, status: oneOf("status", outcomes, status), label, json };
    const [items, nameOf] = await readNamedItems("/deliveries", readCount("--limit", limit), query);
    return listed(items, deliveryList, nameOf);
  },
});

const statuses = ["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"] as const;

const executionList: ListShape<ReturnType<typeof executionItem>> = {
  columns: {
    execution: "execution_id",
    workflow: ({ workflow }, nameOf) => nameOf(workflow),
    version: "version",
    client: "client",
    status: ({ status }) => statusText(status),
    started: "started_at",
    time: ({ duration_ms }) => (duration_ms === null ? "" : formatDuration(duration_ms)),
    labels: ({ labels }) => cell(labelsText(labels)),
  },
  empty: "no executions - nova run <folder> starts one",
};

export const executions = command({
  summary: "list executions, newest first",
  takes: {
    "--workflow <id>": "only of this workflow",
    "--client <slug>": "only of this client",
    "--status <status>": `only with this status, or with one of several: failed,interrupted; all: ${statuses.join(", ")}`,
    "--error <class>": "only if they ended with this error class, such as NodeTimeout",
    "--trigger <id>": "only if this trigger started them",
    "--label <name=value>": "only with this label, such as order=PO-10",
    ...limited,
  },
  async run(_, { workflow, client, status, error: error_class, trigger, label, limit, json }) {
    const query = { workflow, client, status: readStatuses(status), error_class, trigger, label, json };
    const [found, nameOf] = await readNamedItems("/executions", readCount("--limit", limit), query);
    return listed(found.map(executionItem), executionList, nameOf);
  },
});

/** Checks statuses with commas between them. Throws `InvalidInput`. */
function readStatuses(text: string | undefined): string | undefined {
  return text
    ?.split(",")
    .map((one) => oneOf("status", statuses, one))
    .join(",");
}

function executionItem(found: Execution) {
  const { execution_id, workflow, version, client, status, started_at, duration_ms, labels } = found;
  return { execution_id, workflow, version, client, status, started_at, duration_ms, labels };
}

/** Formats labels as `--label` accepts them. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return pairsText(labels, "=");
}

function pairsText(pairs: object, between: string): string {
  const texts = Object.entries(pairs).map(([name, value]) => `${name}${between}${value}`);
  return texts.join(", ");
}

type AgedTask = Task & { age_seconds: number };

const taskTimes = {
  age: ({ age_seconds }: AgedTask) => formatDuration(age_seconds * 1000),
  until: "expires_at",
} as const;
const taskPlace: ListShape<AgedTask>["columns"] = {
  execution: "execution_id",
  workflow: ({ workflow }, nameOf) => nameOf(workflow),
  client: "client",
  node: "node",
};

const taskLists: Record<"approval" | "event", ListShape<AgedTask>> = {
  approval: {
    columns: {
      task: "task_id",
      ...taskPlace,
      choices: ({ choices }) => choices.join("|"),
      ...taskTimes,
      message: ({ message }) => cell(message),
    },
    empty: "no task waits for an answer - nova tasks --kind event lists tasks that wait for an event",
  },
  event: {
    columns: { ...taskPlace, ...taskTimes, pattern: ({ pattern }) => cell((pattern as RawJson | null)?.text ?? "") },
    empty: "no task waits for an event",
  },
};

export const tasks = command({
  summary: "list tasks that wait for a person's answer or for an event, oldest first",
  takes: {
    "--kind <kind>": { says: "event: for an event; absent: for an answer", choices: ["approval", "event"] },
    "--mine": "only the approvals on which the person of the key may vote now",
  },
  async run(_, { kind = "approval", mine, json: asJson }) {
    const query = { kind, ...(mine && { mine: "true" as const }), json: asJson };
    const [items, nameOf] = await readNamedItems("/tasks", Number.POSITIVE_INFINITY, query);
    const now = Date.now();
    const aged = items.map((task) => {
      // The age is never below 0, because the server's clock may be ahead of this machine's.
      return { ...task, age_seconds: Math.max(0, Math.floor((now - Date.parse(task.created_at)) / 1000)) };
    });
    const { json, text } = listed(aged, taskLists[kind], nameOf);
    const unmailed = items.flatMap(({ execution_id, node, mail }) => {
      if (!mail?.problem) return [];
      return `${node} of ${execution_id}: no mail went to ${mail.to.join(", ")}: ${untrustedLine(mail.problem)}`;
    });
    return { json: renderJson(json), text: [text, unmailed].flat() };
  },
});

const reports = ["workflows", "nodes", "errors", "ai-cost"] as const;

export const analytics = command({
  summary: "print statistics of ended runs: count, duration, errors and the cost of models",
  takes: {
    "<workflows|nodes|errors|ai-cost>": "which statistics",
    "--from <time>": "runs that ended then or later: 2026-11-01, or a time in ISO 8601; absent: 30 days ago",
    "--to <time>": "runs that ended then or earlier; a date includes that whole day",
    "--workflow <id>": "only of this workflow",
    "--client <slug>": "only of this client",
  },
  async run([name], { from, to, workflow, client, json }) {
    const report = reports.find((one) => one === name);
    if (!report) throw new InvalidInput(`there are no statistics "${name}" - use ${reports.join(", ")}`);
    const query = { from, to, workflow, client, json };
    const [items, nameOf] = await readNamedItems(`/analytics/${report}`, Number.POSITIVE_INFINITY, query);
    const none = "no statistics - no run has ended in this time";
    const named = items.map((item) => ({
      ...item,
      ...("workflow" in item && { workflow: nameOf(item.workflow) }),
    }));
    return { json: { items }, text: items.length === 0 ? none : figureTable(named) };
  },
});

const clientList: ListShape<Pick<Client, "slug" | "name" | "created_at">> = {
  columns: { client: "slug", name: "name", made: "created_at" },
  empty: "no clients - nova clients create makes one",
};

export const clients = command({
  summary: "make, list and delete clients: for whom workflows run",
  takes: {
    "<create|list|delete>": "what to do; delete erases their data, and keeps the proofs of their runs",
    "[slug]": "with create, delete: which one",
    "--name <text>": "with create: the name for people; absent: the slug",
  },
  async run([asked, slug], { name }) {
    return runAction("clients", asked, {
      async create() {
        const wanted = demandSlug("create", slug);
        const made = await askApi((nova) => nova.clients.create({ slug: wanted, name: name ?? wanted }));
        return { json: clientItem(made), text: `client ${made.slug} is made` };
      },
      async list() {
        const found = await askApi((nova) => Array.fromAsync(nova.clients.list()));
        return listed(found.map(clientItem), clientList);
      },
      async delete() {
        const wanted = demandSlug("delete", slug);
        const isErased = await askApi(async (nova) => {
          await nova.clients.delete(wanted);
          return (await nullIfMissing(nova.clients.get(wanted))) === null;
        });
        const state = isErased ? "its data is erased" : "its data is erased within minutes";
        return { json: { slug, deleted: true }, text: `client ${slug} is deleted, and ${state}` };
      },
    });
  },
});

function demandSlug(action: string, slug: string | undefined): string {
  if (slug === undefined) throw new InvalidInput(`nova clients ${action} needs a slug, such as acme`);
  return slug;
}

function clientItem({ slug, name, created_at }: Client) {
  return { slug, name, created_at };
}

const roles: readonly Role[] = ["viewer", "runner", "editor", "admin"];

const keyList: ListShape<Key> = {
  columns: {
    key: "id",
    role: "role",
    client: ({ client_slug }) => client_slug ?? "all",
    name: "name",
    identity: ({ identity }) => identity ?? "",
    made: "created_at",
  },
  empty: "no keys - nova keys create --role admin makes one",
};

export const keys = command({
  summary: "make, list and delete API keys; with NOVA_TABLE and AWS credentials, the first one of a deployment",
  takes: {
    "<create|list|delete>": "what to do",
    "[key_id]": "with delete: which one",
    "--role <role>": `with create: ${roles.join(", ")}; each includes those before it`,
    "--client <slug>": "with create: the only client that the key can reach; absent: all clients",
    "--name <text>": "with create: the name of its owner",
    "--identity <mail>": "with create: the mail address of the person who answers approvals with it",
  },
  async run([asked, id], { role, client, name, identity, json }) {
    return runAction("keys", asked, {
      async create() {
        const request = { role: readRole(role), ...defined({ client_slug: client, name, identity }) };
        const made = await withKeys((place) => place.create(request));
        if (!json) printError(styled("dim", `${made.id} is shown only this once: store it where you keep keys`));
        return { json: made, text: made.key };
      },
      list: async () => listed(await withKeys((place) => Array.fromAsync(place.list())), keyList),
      async delete() {
        if (id === undefined)
          throw new InvalidInput("nova keys delete needs the id of a key - nova keys list shows them");
        await withKeys((place) => place.delete(id));
        return { json: { id, deleted: true }, text: `${id} is deleted` };
      },
    });
  },
});

function readRole(text: string | undefined): Role {
  const role = roles.find((one) => one === text);
  if (role) return role;
  const what = text === undefined ? "nova keys create needs a role" : `there is no role "${text}"`;
  throw new InvalidInput(`${what} - use one of --role ${roles.join(", ")}`);
}

type Schedule = Schemas["Schedule"];

const scheduleList: ListShape<Schedule> = {
  columns: {
    workflow: ({ workflow }, nameOf) => nameOf(workflow),
    schedule: "trigger",
    client: "client_slug",
    when: "expression",
    next: ({ next_at, timezone }) => (next_at === null ? "" : `${clockAt(next_at, timezone)} ${timezone}`),
    "next here": ({ next_at }) => (next_at === null ? "" : clockAt(next_at)),
    state: ({ paused_at }) => pauseText(paused_at),
  },
  empty: "no active version has a schedule",
};

export const schedules = command({
  summary: "list every schedule with its next time, pause and resume one",
  takes: {
    "[list|pause|resume]": { says: "what to do", absent: "list" },
    "[workflow]": "with list: only its schedules",
    "[schedule]": "id of its trigger; unnecessary if the workflow has one schedule",
  },
  async run([asked, workflow, schedule], { json }) {
    const change = async (action: "pause" | "resume") => {
      if (workflow === undefined) throw new InvalidInput(`nova schedules ${action} needs a workflow - name its id`);
      const trigger = schedule ?? (await onlySchedule(workflow, action));
      const params = { path: { id: workflow, trigger } };
      const changed = await askApi((server) =>
        server.ask(server.api.POST(`/workflows/{id}/schedules/{trigger}/${action}`, { params })),
      );
      const { timezone, next_at, paused_at } = changed;
      const state = paused_at === null ? "continues" : `is paused since ${paused_at}`;
      const next = next_at === null ? "" : `, next at ${clockAt(next_at, timezone)} ${timezone}`;
      return { json: changed, text: `${trigger} of ${workflow} ${state}${next}` };
    };
    return runAction("schedules", asked, {
      async list() {
        const [items, nameOf] = await readNamedItems("/schedules", Number.POSITIVE_INFINITY, { workflow, json });
        return listed(items, scheduleList, nameOf);
      },
      pause: () => change("pause"),
      resume: () => change("resume"),
    });
  },
});

async function onlySchedule(workflow: string, action: string): Promise<string> {
  const [first, ...others] = await readItems("/schedules", Number.POSITIVE_INFINITY, { workflow });
  if (!first) throw new InvalidInput(`"${workflow}" has no schedule - nova schedules lists them`);
  if (others.length === 0) return first.trigger;
  const ids = [first, ...others].map(({ trigger }) => trigger).join(", ");
  throw new InvalidInput(`"${workflow}" has several schedules - nova schedules ${action} ${workflow} <one of ${ids}>`);
}

/**
 * Formats a time in the given time zone, by default in the time zone of this machine, as `2026-01-31 09:00` (the
 * Swedish format).
 */
function clockAt(time: string, timeZone?: string): string {
  return new Date(time).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone });
}

function pauseText(pausedAt: string | null): string {
  return pausedAt === null ? "" : `paused since ${pausedAt}`;
}

const workflowList: ListShape<Workflow> = {
  columns: {
    workflow: "id",
    name: ({ name }) => cell(name),
    active: "active_version",
    latest: "version",
    status: "status",
    published: "created_at",
    state: ({ paused_at }) => pauseText(paused_at),
  },
  empty: "no workflow is published",
};

const versionColumns: ListShape<Schemas["WorkflowVersion"]>["columns"] = {
  version: "version",
  status: "status",
  use: ({ active }) => (active ? "active" : ""),
  published: "created_at",
  hash: ({ hash }) => hash.slice(0, 12),
  reason: "reason",
};

export const versions = command({
  summary: "list the versions of a workflow, newest first, or all workflows",
  takes: { "[workflow]": "its id; absent: every workflow with the version that new runs use" },
  async run([workflow]) {
    if (workflow === undefined)
      return listed(await askApi((server) => Array.fromAsync(server.workflows.list())), workflowList);
    const items = await askApi((server) => Array.fromAsync(server.workflows.versions(workflow)));
    return listed(items, { columns: versionColumns, empty: `"${workflow}" has no version` });
  },
});

const pinColumns: ListShape<Schemas["Generation"]>["columns"] = {
  node: "node",
  client: ({ client_slug }) => client_slug ?? "all",
  code: ({ code_hash }) => code_hash.slice(0, 12),
  from: ({ origin, model }) => (origin === "edited" ? "edited by hand" : model),
  written: "created_at",
  "proven by": "proven_by",
  "approved by": ({ approved }) => approved?.by,
};

export const pins = command({
  summary: "list the pinned code that models wrote and that prompt nodes of a workflow run",
  takes: { "<workflow>": "its id" },
  json: "print one JSON object, with the code",
  async run([workflow = ""]) {
    const kept = await askApi((server) => Array.fromAsync(server.workflows.generations(workflow)));
    const items = kept.filter(({ status }) => status === "pinned");
    return listed(items, { columns: pinColumns, empty: `no code of "${workflow}" is pinned` });
  },
});
