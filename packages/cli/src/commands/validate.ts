import type { Finding } from "@nova/workflow";
import { serverHere } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { readAndParse } from "../input/workflow.ts";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

/** A server knows besides which workflows there are that this one runs. */
async function findingsOf(path: string): Promise<{ findings: Finding[]; valid: boolean }> {
  const parsed = await readAndParse(path);
  const { compileParsed } = await import("@nova/compiler");
  const { findings, workflow } = await compileParsed(parsed);
  const server = workflow && (await serverHere());
  if (!workflow) return { findings, valid: false };
  const { pastTimes, readWorkflowSource, relocate } = await import("@nova/workflow");
  if (!server) {
    const { notInstalled } = await import("../packages/not-installed.ts");
    return {
      findings: [...findings, ...pastTimes(workflow, Date.now()), ...(await notInstalled(parsed))],
      valid: true,
    };
  }
  const { sentAs } = await import("../api/publish.ts");
  const source = await readWorkflowSource(path);
  const { findings: found, valid } = await server.workflows.validate(sentAs(source, workflow.id));
  return { findings: relocate(found as Finding[], source), valid };
}

export const validate: CliCommand = {
  declare: (command) =>
    command
      .summary("say what is wrong with a workflow")
      .argument("<folder|file>", "folder with workflow.json or workflow.ts, or one such file")
      .option("--json", "print one JSON object"),

  async run([path = ""], { json }) {
    const { findings, valid } = await findingsOf(path);
    if (json) print(JSON.stringify({ valid, diagnostics: diagnosticsOf(findings) }), true);
    else print([...findingLines(findings), valid ? `${path} is valid` : `${path} is not valid`].join("\n"));
    return valid ? exitCodes.completed : exitCodes.invalid;
  },
};
