import type { Finding } from "@nova/workflow";
import { askApi } from "../api/ask.ts";
import { InvalidInput, InvalidWorkflow } from "../errors.ts";
import { findSharedIds } from "../input/workflow.ts";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import { styled } from "../output/terminal.ts";
import { command } from "./command.ts";

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
      const { publishOnServer } = await import("../api/publish.ts");
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

/** Reads and checks a folder before anything is published. Throws `InvalidWorkflow`. */
async function readValid(path: string) {
  const { parseWorkflow, readWorkflowSource } = await import("@nova/workflow");
  const source = await readWorkflowSource(path);
  const { workflow, findings } = parseWorkflow(source);
  if (!workflow) throw new InvalidWorkflow(path, findings);
  return { path, id: workflow.id, source };
}
