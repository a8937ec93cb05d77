import type { NovaClient, Schemas, Workflow } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { printList } from "../output/table.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const versions: CliCommand = {
  declare: (command) =>
    command
      .summary("list the versions of a workflow, newest first, or all workflows")
      .argument("[workflow]", "its id; absent: every workflow with the version that new runs use")
      .option("--json", "print one JSON object"),

  async run([workflow], { json }) {
    if (workflow === undefined) {
      const items = await askApi((server) => Array.fromAsync(server.workflows.list()));
      const header = ["workflow", "active", "latest", "status", "published", ""];
      printList(items, json, { header, rowOf: workflowRow, empty: "no workflow is published" });
      return exitCodes.completed;
    }
    const items = await askApi((server) => Array.fromAsync(server.workflows.versions(workflow)));
    const header = ["version", "status", "", "published", "hash", ""];
    printList(items, json, { header, rowOf: versionRow, empty: `"${workflow}" has no version` });
    return exitCodes.completed;
  },
};

function workflowRow({ id, active_version, version, status, created_at, paused_at }: Workflow): string[] {
  const pause = paused_at === null ? "" : `paused since ${paused_at}`;
  return [id, String(active_version ?? ""), String(version), status, created_at, pause];
}

function versionRow({ version, status, active, created_at, hash, reason }: Schemas["WorkflowVersion"]): string[] {
  return [String(version), status, active ? "active" : "", created_at, hash.slice(0, 12), reason ?? ""];
}

export const activate: CliCommand = {
  declare: (command) =>
    command
      .summary("make a version of a workflow what new runs use; runs that have begun stay on theirs")
      .argument("<workflow>", "its id")
      .argument("<version>", "as nova versions lists them")
      .option("--json", "print one JSON object"),

  async run([workflow = "", text = ""], { json }) {
    const version = readVersion(text);
    const activated = await askApi((server) => server.workflows.activate(workflow, version));
    print(json ? JSON.stringify(activated) : `${workflow}: new runs use version ${version}`, json);
    return exitCodes.completed;
  },
};

export const rollback: CliCommand = {
  declare: (command) =>
    command
      .summary("have new runs of a workflow use the version that they used before")
      .argument("<workflow>", "its id")
      .option("--json", "print one JSON object"),

  async run([workflow = ""], { json }) {
    const { from, to } = await askApi((server) => rollBack(server, workflow));
    const result = { id: workflow, active_version: to, previous_version: from };
    print(json ? JSON.stringify(result) : `${workflow}: new runs use version ${to}, no longer ${from}`, json);
    return exitCodes.completed;
  },
};

/** Throws `InvalidInput` where new runs have used no other version before. */
async function rollBack(server: NovaClient, workflow: string): Promise<{ from: number | null; to: number }> {
  const { active_version: from, previous_version: to } = await server.workflows.get(workflow);
  if (to === null) throw new InvalidInput(noWayBack(workflow, from));
  await server.workflows.activate(workflow, to);
  return { from, to };
}

function noWayBack(workflow: string, active: number | null): string {
  const wayOut = `choose one of nova versions ${workflow} with nova activate`;
  const first = active === null ? "no version is active" : `new runs used none before version ${active}`;
  return `"${workflow}" has no earlier version to go back to: ${first} - ${wayOut}`;
}

export const pins: CliCommand = {
  declare: (command) =>
    command
      .summary("list the code that models wrote and that is pinned: what prompt nodes of a workflow run")
      .argument("<workflow>", "its id")
      .option("--json", "print one JSON object, with the code"),

  async run([workflow = ""], { json }) {
    const kept = await askApi((server) => Array.fromAsync(server.workflows.generations(workflow)));
    const items = kept.filter(({ status }) => status === "pinned");
    const header = ["node", "client", "code", "from", "written", "proven by", "approved by"];
    printList(items, json, { header, rowOf, empty: `no code of "${workflow}" is pinned` });
    return exitCodes.completed;
  },
};

function rowOf(pin: Schemas["Generation"]): string[] {
  const { node, client_slug, code_hash, origin, model, created_at, proven_by, approved } = pin;
  const from = origin === "edited" ? "somebody's edit" : model;
  return [node, client_slug ?? "all", code_hash.slice(0, 12), from, created_at, proven_by ?? "", approved?.by ?? ""];
}

/** The number of a version. Throws `InvalidInput`. */
export function readVersion(text: string): number {
  const version = Number(text);
  if (Number.isSafeInteger(version) && version > 0) return version;
  throw new InvalidInput(`${text} is no version - nova versions <workflow> lists them: 1, 2, ...`);
}
