import { join } from "node:path";
import { shellWord } from "@nova/workflow/shell-word";
import { askApi } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { print, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const pull: CliCommand = {
  declare: (command) =>
    command
      .summary("make a folder in which an execution, or one node of it, can be run again on this machine")
      .argument("<execution_id>")
      .option("--node <id>", "with the context that this node found")
      .option("--into <folder>", "a new folder; absent: named after workflow and execution")
      .option("--json", "print one JSON object"),

  async run([execution = ""], { node, into, json }) {
    const { pullExecution } = await import("../pull/pull-execution.ts");
    const text = (value: unknown) => (typeof value === "string" ? value : undefined);
    const asked = { execution, node: text(node), folder: text(into) };
    const { folder, secrets, ...pulled } = await askApi((nova) => pullExecution(nova, asked));
    const alone = asked.node === undefined ? [] : ["--node", asked.node];
    const given = secrets.flatMap((key) => ["--set", `${key}=...`]);
    // On a server the version of then would be published over the one of today.
    const words = ["nova", "run", folder, "--local", ...alone, "--context", join(folder, "context.json"), ...given];
    const run = words.map(shellWord).join(" ");
    if (json) print(JSON.stringify({ execution_id: execution, folder, ...pulled, secrets, run }), true);
    else {
      print(`${folder} holds version ${pulled.version} of ${pulled.workflow} and what it ran with. Run it:`);
      print(styled("bold", `  ${run}`));
    }
    return exitCodes.completed;
  },
};
