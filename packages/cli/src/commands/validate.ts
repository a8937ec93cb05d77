import { exitCodes } from "../errors.ts";
import { readAndCompile } from "../input/workflow.ts";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import type { CliCommand } from "./command.ts";

export const validate: CliCommand = {
  declare: (command) =>
    command
      .summary("say what is wrong with a workflow")
      .argument("<folder|file>", "folder with workflow.json, or one JSON file")
      .option("--json", "print one JSON object"),

  async run([path = ""], { json }) {
    const { findings, definition } = await readAndCompile(path);
    const valid = definition !== undefined;
    if (json) console.log(JSON.stringify({ valid, diagnostics: diagnosticsOf(findings) }));
    else console.log([...findingLines(findings), valid ? `${path} is valid` : `${path} is not valid`].join("\n"));
    return valid ? exitCodes.completed : exitCodes.invalid;
  },
};
