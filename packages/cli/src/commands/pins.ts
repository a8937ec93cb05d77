import type { Schemas } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { printList } from "../output/table.ts";
import type { CliCommand } from "./command.ts";

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
