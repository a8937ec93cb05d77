import type { Schemas } from "@nova/client";
import { exitCodes } from "../errors.ts";
import { printList } from "../output/table.ts";
import { askApi } from "../place.ts";
import type { CliCommand } from "./command.ts";

export const versions: CliCommand = {
  declare: (command) =>
    command
      .summary("list the versions of a workflow, newest first, and which one new runs use")
      .argument("<workflow>", "its id")
      .option("--json", "print one JSON object"),

  async run([workflow = ""], { json }) {
    const items = await askApi((server) => Array.fromAsync(server.workflows.versions(workflow)));
    const header = ["version", "status", "", "made", "hash", ""];
    printList(items, json, { header, rowOf, empty: `"${workflow}" has no version` });
    return exitCodes.completed;
  },
};

function rowOf({ version, status, active, created_at, hash, reason }: Schemas["WorkflowVersion"]): string[] {
  return [String(version), status, active ? "active" : "", created_at, hash.slice(0, 12), reason ?? ""];
}
