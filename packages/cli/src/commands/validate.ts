import { existsSync } from "node:fs";
import type { Finding } from "@nova/workflow";
import { connectServer } from "../api/ask.ts";
import { exitCodes } from "../errors.ts";
import { readAndCompile, readAndParse } from "../input/workflow.ts";
import { diagnosticsOf, findingLines } from "../output/findings.ts";
import { print, printError } from "../output/terminal.ts";
import { command } from "./command.ts";

/** Validates a folder. A server also checks whether the workflows that it calls exist. */
async function findingsOf(path: string): Promise<{ findings: Finding[]; valid: boolean; warm?: number | undefined }> {
  const parsed = await readAndParse(path);
  const { compileParsed } = await import("@nova/compiler");
  const { findings, workflow } = await compileParsed(parsed);
  const server = workflow && (await connectServer());
  if (!workflow) return { findings, valid: false };
  const { warm } = workflow;
  const { pastTimes, readWorkflowSource, locateInProgram } = await import("@nova/workflow");
  const { findUnpriced } = await import("../input/workflow.ts");
  const unpriced = await findUnpriced(parsed);
  if (!server) {
    const { findNotInstalled } = await import("../packages/not-installed.ts");
    const all = [...findings, ...pastTimes(workflow, Date.now()), ...(await findNotInstalled(parsed)), ...unpriced];
    return { findings: all, valid: true, warm };
  }
  const { publishBody } = await import("../api/publish.ts");
  const source = await readWorkflowSource(path);
  const { findings: found, valid } = await server.workflows.validate(publishBody(source, workflow.id));
  return { findings: [...locateInProgram(found as Finding[], source), ...unpriced], valid, warm };
}

/** Prices of E2B per second: $0.000014 for each of 2 vCPU, and $0.0000045 for each of 2 GiB. */
const usdPerHour = 3_600 * 2 * (0.000014 + 0.0000045);

function costOf(warm: number): string {
  const usd = (warm * usdPerHour).toFixed(2);
  return `keeps up to ${warm} sandboxes of each client warm while it is the active version, for about $${usd} per hour and client`;
}

export const validate = command({
  summary: "find the mistakes in a workflow",
  takes: { "<folder|file>": "folder with workflow.json or workflow.ts, or one such file" },
  async run([path = ""]) {
    const { findings, valid, warm } = await findingsOf(path);
    return {
      json: { valid, diagnostics: diagnosticsOf(findings) },
      text: [
        ...findingLines(findings),
        ...(warm ? [costOf(warm)] : []),
        valid ? `${path} is valid` : `${path} is not valid`,
      ],
      code: valid ? exitCodes.completed : exitCodes.invalid,
    };
  },
});

export const compile = command({
  summary: "print the state machine of a workflow (Amazon States Language)",
  takes: {
    "<folder|file>":
      "folder with workflow.json or workflow.ts, or one such file; with a server also the id of a workflow",
  },
  json: false,
  async run([path = ""]) {
    const server = existsSync(path) ? undefined : await connectServer();
    const { findings, stateMachine } = server
      ? { findings: [], stateMachine: await server.workflows.asl(path) }
      : await readAndCompile(path);
    if (findings.length > 0) printError(findingLines(findings).join("\n"));
    if (!stateMachine) return exitCodes.invalid;
    print(JSON.stringify(stateMachine, null, 2), true);
    return exitCodes.completed;
  },
});
