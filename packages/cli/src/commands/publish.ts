import type { Finding, WorkflowSource } from "@nova/workflow";
import { askApi } from "../api/ask.ts";
import { type ExitCode, exitCodes, InvalidWorkflow } from "../errors.ts";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import { print, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

interface Publication {
  path: string;
  id: string;
  version: number;
  status: string;
  findings: Finding[];
}

export const publish: CliCommand = {
  declare: (command) =>
    command
      .summary("publish workflows: what new runs of them use")
      .argument("<folders...>", "folders with workflow.json or workflow.ts, or such files; those that others run first")
      .option("--json", "print one JSON object"),

  async run(args, { json }): Promise<ExitCode> {
    const paths = args.flat() as string[];
    const read = await Promise.all(paths.map(readValid));
    const items = await askApi(async (nova) => {
      const { publishOnServer } = await import("../api/publish.ts");
      const done: Publication[] = [];
      for (const { path, source, id } of read) {
        const { findings = [], ...published } = await publishOnServer(nova, source, id);
        done.push({ ...published, path, findings: findings as Finding[] });
      }
      return done;
    });
    if (json) print(JSON.stringify({ items: items.map(itemOf) }), true);
    else print(items.flatMap(linesOf).join("\n"));
    return exitCodes.completed;
  },
};

interface Readable {
  path: string;
  id: string;
  source: WorkflowSource;
}

/** Throws `InvalidWorkflow` before anything is published. */
async function readValid(path: string): Promise<Readable> {
  const { parseWorkflow, readWorkflowSource } = await import("@nova/workflow");
  const source = await readWorkflowSource(path);
  const { workflow, findings } = parseWorkflow(source);
  if (!workflow) throw new InvalidWorkflow(path, findings);
  return { path, id: workflow.id, source };
}

function itemOf({ path, id, version, status, findings }: Publication) {
  return { path, id, version, status, diagnostics: diagnosticsOf(findings) };
}

function linesOf({ id, version, status, findings }: Publication): string[] {
  return [...findingLines(findings), `${styled("green", "✓")} ${id} version ${version} is ${status}`];
}
