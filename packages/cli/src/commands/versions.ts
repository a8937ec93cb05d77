import type { Finding } from "@nova/workflow";
import { parseWorkflow, readWorkflowSource } from "@nova/workflow";
import { askApi } from "../api/ask.ts";
import { publishOnServer } from "../api/client.ts";
import { InvalidInput, InvalidWorkflow } from "../errors.ts";
import { findSharedIds } from "../input/workflow.ts";
import { styled } from "../output/terminal.ts";
import { diagnosticsOf, findingLines } from "../output/text.ts";
import { type CliCommand, command } from "./command.ts";

export const activate = command({
  summary: "make new runs of a workflow use a version; started runs keep theirs",
  takes: { "<workflow>": "its id", "<version>": "as nova versions lists them" },
  async run([workflow = "", text = ""]) {
    const version = readVersion(text);
    const activated = await askApi((server) => server.workflows.activate(workflow, version));
    return { json: activated, text: `${workflow}: new runs use version ${version}` };
  },
});

export const rollback = command({
  summary: "make new runs of a workflow use the previous version again",
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
      throw new InvalidInput(`"${workflow}" has no previous version: ${first} - ${wayOut}`);
    }
    return {
      json: { id: workflow, active_version: to, previous_version: from },
      text: `${workflow}: new runs use version ${to}, no longer ${from}`,
    };
  },
});

/** Reads the number of a version. Throws `InvalidInput`. */
export function readVersion(text: string): number {
  const version = Number(text);
  if (Number.isSafeInteger(version) && version > 0) return version;
  throw new InvalidInput(`${text} is not a version - nova versions <workflow> lists them: 1, 2, ...`);
}

export const pause = pauseCommand(
  "pause",
  "queue new runs of a workflow; started runs continue, and schedules start nothing",
);

export const resume = pauseCommand("resume", "end the pause of a workflow: queued runs start");

function pauseCommand(action: "pause" | "resume", summary: string): CliCommand {
  return command({
    summary,
    takes: { "<workflow>": "its id" },
    async run([id = ""]) {
      const { paused_at } = await askApi((server) =>
        server.ask(server.api.POST(`/workflows/{id}/${action}`, { params: { path: { id } } })),
      );
      const state = paused_at === null ? "continues" : `is paused since ${paused_at} - nova resume ${id} ends that`;
      return { json: { id, paused_at }, text: `${id} ${state}` };
    },
  });
}

export const publish = command({
  summary: "publish workflows, so that new runs use them",
  takes: {
    "<folders...>": "folders with workflow.json or workflow.ts, or such files; called workflows before their callers",
  },
  async run(args) {
    const read = await Promise.all(args.flat().map(readValid));
    const [problem] = findSharedIds(read).values();
    if (problem !== undefined) throw new InvalidInput(problem);
    const items = await askApi(async (nova) => {
      const done = [];
      for (const { path, source, id } of read) {
        const { findings = [], ...published } = await publishOnServer(nova, source, id);
        done.push({ ...published, path, findings: findings as Finding[] });
      }
      return done;
    });
    return {
      json: {
        items: items.map(({ path, id, version, status, findings }) => {
          return { path, id, version, status, diagnostics: diagnosticsOf(findings) };
        }),
      },
      text: items.flatMap(({ id, version, status, findings }) => [
        ...findingLines(findings),
        `${styled("green", "✓")} ${id} version ${version} is ${status}`,
      ]),
    };
  },
});

/** Reads and checks a workflow folder before the command publishes anything. Throws `InvalidWorkflow`. */
async function readValid(path: string) {
  const source = await readWorkflowSource(path);
  const { workflow, findings } = parseWorkflow(source);
  if (!workflow) throw new InvalidWorkflow(path, findings);
  return { path, id: workflow.id, source };
}
