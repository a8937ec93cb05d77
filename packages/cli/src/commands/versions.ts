import type { Schemas, Workflow } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { InvalidInput } from "../errors.ts";
import { told } from "../output/table.ts";
import { command } from "./command.ts";

export const versions = command({
  summary: "list the versions of a workflow, newest first, or all workflows",
  takes: { "[workflow]": "its id; absent: every workflow with the version that new runs use" },
  async run([workflow]) {
    if (workflow === undefined) {
      const items = await askApi((server) => Array.fromAsync(server.workflows.list()));
      const header = ["workflow", "active", "latest", "status", "published", ""];
      return told(items, { header, rowOf: workflowRow, empty: "no workflow is published" });
    }
    const items = await askApi((server) => Array.fromAsync(server.workflows.versions(workflow)));
    const header = ["version", "status", "", "published", "hash", ""];
    return told(items, { header, rowOf: versionRow, empty: `"${workflow}" has no version` });
  },
});

function workflowRow({ id, active_version, version, status, created_at, paused_at }: Workflow): string[] {
  const pause = paused_at === null ? "" : `paused since ${paused_at}`;
  return [id, String(active_version ?? ""), String(version), status, created_at, pause];
}

function versionRow({ version, status, active, created_at, hash, reason }: Schemas["WorkflowVersion"]): string[] {
  return [String(version), status, active ? "active" : "", created_at, hash.slice(0, 12), reason ?? ""];
}

export const activate = command({
  summary: "make a version of a workflow what new runs use; runs that have begun stay on theirs",
  takes: { "<workflow>": "its id", "<version>": "as nova versions lists them" },
  async run([workflow = "", text = ""]) {
    const version = readVersion(text);
    const activated = await askApi((server) => server.workflows.activate(workflow, version));
    return { json: activated, text: `${workflow}: new runs use version ${version}` };
  },
});

export const rollback = command({
  summary: "have new runs of a workflow use the version that they used before",
  takes: { "<workflow>": "its id" },
  async run([workflow = ""]) {
    const { from, to } = await askApi(async ({ workflows }) => {
      const { active_version: from, previous_version: to } = await workflows.get(workflow);
      if (to !== null) await workflows.activate(workflow, to);
      return { from, to };
    });
    if (to === null) {
      const first = from === null ? "no version is active" : `new runs used none before version ${from}`;
      const wayOut = `choose one of nova versions ${workflow} with nova activate`;
      throw new InvalidInput(`"${workflow}" has no earlier version to go back to: ${first} - ${wayOut}`);
    }
    return {
      json: { id: workflow, active_version: to, previous_version: from },
      text: `${workflow}: new runs use version ${to}, no longer ${from}`,
    };
  },
});

export const pins = command({
  summary: "list the code that models wrote and that is pinned: what prompt nodes of a workflow run",
  takes: { "<workflow>": "its id" },
  json: "print one JSON object, with the code",
  async run([workflow = ""]) {
    const kept = await askApi((server) => Array.fromAsync(server.workflows.generations(workflow)));
    const items = kept.filter(({ status }) => status === "pinned");
    const header = ["node", "client", "code", "from", "written", "proven by", "approved by"];
    return told(items, { header, rowOf, empty: `no code of "${workflow}" is pinned` });
  },
});

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
