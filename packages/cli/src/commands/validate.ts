import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type ContextShape, checkNodeCode, listImportableModules, type NodeFacts, shapeOf } from "@nova/python";
import {
  type Finding,
  isWorkflowFolder,
  locateInProgram,
  openApprovals,
  pastTimes,
  readWorkflowSource,
  templatePackages,
} from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { connectServer } from "../api/ask.ts";
import { exitCodes, InvalidInput, throwInvalid } from "../errors.ts";
import { readJsonFile, readObjectFile, utf8 } from "../input/context.ts";
import { findUnpriced, readAndCompile, readAndParse, workflowPath } from "../input/workflow.ts";
import { Interrupt } from "../interrupt.ts";
import { githubLines, sarifLog } from "../output/formats.ts";
import { type CommandOutput, print, printError } from "../output/terminal.ts";
import { diagnosticsOf, findingLines } from "../output/text.ts";
import { repeatOnChange } from "../watch.ts";
import { command } from "./command.ts";

async function findingsOf(path: string): Promise<{ findings: Finding[]; valid: boolean; warm?: number | undefined }> {
  const parsed = await readAndParse(path);
  const { compileParsed } = await import("@nova/compiler");
  const { findings, workflow } = await compileParsed(parsed);
  const server = workflow && (await connectServer());
  if (!workflow) return { findings, valid: false };
  const { warm } = workflow;
  const unpriced = await findUnpriced(parsed);
  if (!server) {
    const { findNotInstalled } = await import("../packages.ts");
    const warnings = [
      ...pastTimes(workflow, Date.now()),
      ...openApprovals(workflow, await readWorkflowSource(path)),
      ...(await findNotInstalled(parsed)),
    ];
    return { findings: [...findings, ...warnings, ...unpriced], valid: true, warm };
  }
  const { publishBody } = await import("../api/client.ts");
  const source = await readWorkflowSource(path);
  const { findings: found, valid } = await server.workflows.validate(publishBody(source, workflow.id));
  return { findings: [...locateInProgram(found as Finding[], source), ...unpriced], valid, warm };
}

/**
 * The price of a sandbox per hour: E2B charges $0.000014 per second for a vCPU and $0.0000045 for a GiB, and a sandbox
 * has two of each.
 */
const usdPerHour = 3_600 * 2 * (0.000014 + 0.0000045);

function costOf(warm: number): string {
  const usd = (warm * usdPerHour).toFixed(2);
  return `keeps up to ${warm} sandboxes of each client warm while it is the active version, for about $${usd} per hour and client`;
}

const formats = ["text", "github", "sarif"] as const;
type Format = (typeof formats)[number];

export const validate = command({
  summary: "find the mistakes in a workflow",
  takes: {
    "<folder|file>": "folder with workflow.json or workflow.ts, or one such file",
    "--format <format>": {
      says: "github: annotations of GitHub Actions; sarif: a SARIF 2.1.0 log for code scanning",
      choices: formats,
      absent: "text",
    },
    "--watch": "validate again when a file in the folder changes",
  },
  async run([path = ""], { format, watch, json }) {
    if (json && format !== "text") throw new InvalidInput("--json and --format exclude each other - leave out one");
    if (!watch) return validatePath(path, format);
    return repeatOnChange(workflowPath(path), new Interrupt(), () => validatePath(path, format), json);
  },
});

async function validatePath(path: string, format: Format): Promise<CommandOutput> {
  const { findings, valid, warm } = await findingsOf(path);
  const code = valid ? exitCodes.completed : exitCodes.invalid;
  const json = { valid, diagnostics: diagnosticsOf(findings) };
  if (format === "github") return { json, text: githubLines(findings, workflowPath(path)), code };
  if (format === "sarif") return { json, text: JSON.stringify(sarifLog(findings, workflowPath(path)), null, 2), code };
  const cost = warm ? [costOf(warm)] : [];
  return { json, text: [...findingLines(findings), ...cost, `${path} is ${valid ? "" : "not "}valid`], code };
}

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

export const check = command({
  summary: "find mistakes in the Python of one node, without running it",
  takes: {
    "<file.py>": "the code; lib/ and requirements are those of the workflow.json beside or above it",
    "--context <file.json>": "the context that the node gets, a JSON object; absent: keys are not checked",
    "--node-type <type>": "action or decision (the default with --edges)",
    "--edges <conditions>": "conditions of the decision's edges: true,false",
  },
  async run([file = ""], { context, nodeType, edges }) {
    const source = await readCode(file);
    const findings = await checkNodeCode(source, {
      ...typeOf(nodeType, edges),
      ...defined({ context: context === undefined ? undefined : await readShape(context) }),
      ...(await readImportable(file)),
    });
    const [errors, warnings] = (["error", "warning"] as const).map((wanted) =>
      findings
        .filter(({ severity }) => severity === wanted)
        .map(({ code, line, column, message }) => ({ code, line, column, message })),
    );
    const valid = errors?.length === 0;
    const lines = findingLines(findings.map((finding) => ({ ...finding, path: "", file })));
    return {
      json: { valid, findings: errors, warnings },
      text: [...lines, valid ? `${file} is valid` : `${file} is not valid`],
      code: valid ? exitCodes.completed : exitCodes.invalid,
    };
  },
});

function typeOf(nodeType: string | undefined, edges: string | undefined): Pick<NodeFacts, "nodeType" | "edges"> {
  const type = nodeType ?? (edges === undefined ? "action" : "decision");
  if (type === "action") return { nodeType: "action" };
  if (type !== "decision")
    throw new InvalidInput(`--node-type ${type} is not a type of node with code - write action or decision`);
  if (edges === undefined) return { nodeType: "decision" };
  const conditions = edges.split(",").map((condition) => condition.trim());
  if (conditions.includes(""))
    throw new InvalidInput(`--edges "${edges}" has an empty condition - write --edges true,false`);
  return { nodeType: "decision", edges: conditions };
}

/**
 * The number of folders above a code file in which the command looks for the workflow of the file. The file
 * `nodes/read/mail.py` needs three.
 */
const maxLevels = 3;

export async function readCode(file: string): Promise<string> {
  const bytes = await readFile(file).catch(
    throwInvalid(`there is no readable file "${file}" - name the Python of a node`),
  );
  return utf8(bytes, `"${file}" is not UTF-8 text - save it as UTF-8`);
}

/** Reads a JSON object from a file, and returns the type of the value of each key. */
export async function readShape(file: string): Promise<ContextShape> {
  const value: object = JSON.parse(await readObjectFile(file));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}

/**
 * Lists the modules that the code can import: the modules that every sandbox has, and the modules of the workflow that
 * contains the file.
 */
export async function readImportable(file: string): Promise<Pick<NodeFacts, "modules" | "lib">> {
  let folder = dirname(resolve(file));
  for (let level = 0; level < maxLevels; level++) {
    if (isWorkflowFolder(folder)) {
      const file = join(folder, "workflow.json");
      const text = existsSync(file) ? await readJsonFile(file, "workflow") : (await readWorkflowSource(folder)).text;
      const lib = await readdir(join(folder, "lib")).catch(() => [] as string[]);
      const { requirements } = (JSON.parse(text) ?? {}) as { requirements?: unknown };
      const own = Array.isArray(requirements) ? requirements.map(String) : [];
      return { modules: listImportableModules([...templatePackages, ...own]), lib };
    }
    folder = dirname(folder);
  }
  return { modules: listImportableModules(templatePackages) };
}
