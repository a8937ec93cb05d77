import type { Schemas, Workflow } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { printList } from "../output/table.ts";
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
