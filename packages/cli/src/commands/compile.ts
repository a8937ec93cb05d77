import { existsSync } from "node:fs";
import { serverHere } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { readAndCompile } from "../input/workflow.ts";
import { findingLines } from "../output/findings.ts";
import { print, printError } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const compile: CliCommand = {
  declare: (command) =>
    command
      .summary("print the state machine of a workflow (Amazon States Language)")
      .argument(
        "<folder|file>",
        "folder with workflow.json or workflow.ts, or one such file; of a server also the id of a workflow",
      ),

  async run([path = ""]) {
    const server = existsSync(path) ? undefined : await serverHere();
    if (server) {
      print(JSON.stringify(await server.workflows.asl(path), null, 2), true);
      return exitCodes.completed;
    }
    const { findings, stateMachine } = await readAndCompile(path);
    if (findings.length > 0) printError(findingLines(findings).join("\n"));
    if (!stateMachine) return exitCodes.invalid;
    print(JSON.stringify(stateMachine, null, 2), true);
    return exitCodes.completed;
  },
};
