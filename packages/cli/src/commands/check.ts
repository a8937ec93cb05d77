import { checkNodeCode, type NodeFacts } from "@nova/python";
import { defined } from "@nova/workflow/defined";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readCode, readImportable, readShape } from "../input/node-code.ts";
import { findingLines } from "../output/findings.ts";
import { command } from "./command.ts";

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
