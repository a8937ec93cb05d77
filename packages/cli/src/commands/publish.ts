import type { Finding, WorkflowSource } from "@nova/workflow";
import { type ExitCode, exitCodes } from "../errors.ts";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import { print, styled } from "../output/terminal.ts";
import { inPlace } from "../place.ts";
import { InvalidWorkflow } from "../run/invalid.ts";
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
    const items = await inPlace<Publication[]>({
      async local({ service }) {
        const { publish } = await import("@nova/service");
        const { thisUser } = await import("../keys/this-user.ts");
        return inTurn(read, async ({ source }) => publish(service, thisUser(), source));
      },
      async remote(server) {
        const { publishOnServer } = await import("../remote/publish.ts");
        return inTurn(read, ({ source, id }) => publishOnServer(server, source, id));
      },
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

async function inTurn(
  read: readonly Readable[],
  publishOne: (one: Readable) => Promise<Omit<Publication, "path" | "findings"> & { findings?: object[] | undefined }>,
): Promise<Publication[]> {
  const done: Publication[] = [];
  for (const one of read) done.push({ findings: [], ...(await publishOne(one)), path: one.path } as Publication);
  return done;
}

function itemOf({ path, id, version, status, findings }: Publication) {
  return { path, id, version, status, diagnostics: diagnosticsOf(findings) };
}

function linesOf({ id, version, status, findings }: Publication): string[] {
  return [...findingLines(findings), `${styled("green", "✓")} ${id} version ${version} is ${status}`];
}
