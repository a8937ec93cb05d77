import { type CodeFinding, checkNodeCode, type NodeFacts } from "@nova/python";
import { exitCodes, InvalidInput } from "../errors.ts";
import { importableFrom, readCode, readShape } from "../input/node-code.ts";
import { print, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const check: CliCommand = {
  declare: (command) =>
    command
      .summary("say what is wrong with the Python of one node, without running it")
      .argument("<file.py>", "the code; lib/ and requirements are those of the workflow.json beside or above it")
      .option("--context <file.json>", "what the node finds in context, a JSON object; without it keys are not checked")
      .option("--node-type <type>", "action or decision (the default where --edges are given)")
      .option("--edges <conditions>", "conditions of the edges that leave a decision: true,false")
      .option("--json", "print one JSON object"),

  async run([file = ""], { context, nodeType, edges, json }) {
    const source = await readCode(file);
    const findings = await checkNodeCode(source, {
      ...typeOf(nodeType, edges),
      ...(context !== undefined && { context: await readShape(String(context)) }),
      ...(await importableFrom(file)),
    });
    const errors = findings.filter(({ severity }) => severity === "error");
    const valid = errors.length === 0;
    if (json) {
      const warnings = findings.filter(({ severity }) => severity === "warning");
      print(
        JSON.stringify({ valid, findings: errors.map(publicFinding), warnings: warnings.map(publicFinding) }),
        true,
      );
    } else {
      const lines = findings.map((finding) => findingLine(file, finding));
      print([...lines, valid ? `${file} is valid` : `${file} is not valid`].join("\n"));
    }
    return valid ? exitCodes.completed : exitCodes.invalid;
  },
};

function typeOf(nodeType: unknown, edges: unknown): Pick<NodeFacts, "nodeType" | "edges"> {
  const type = nodeType ?? (edges === undefined ? "action" : "decision");
  if (type === "action") return { nodeType: "action" };
  if (type !== "decision")
    throw new InvalidInput(`--node-type ${type} is no type of node with code - write action or decision`);
  if (edges === undefined) return { nodeType: "decision" };
  const conditions = String(edges)
    .split(",")
    .map((condition) => condition.trim());
  if (conditions.includes(""))
    throw new InvalidInput(`--edges "${edges}" has an empty condition - write --edges true,false`);
  return { nodeType: "decision", edges: conditions };
}

function publicFinding({ code, line, column, message }: CodeFinding) {
  return { code, line, column, message };
}

function findingLine(file: string, { code, severity, line, column, message }: CodeFinding): string {
  const mark = severity === "error" ? styled("red", "error") : styled("yellow", "warning");
  return `${mark} ${styled("bold", code)} ${message}\n${styled("dim", `  at ${file}:${line}:${column}`)}`;
}
