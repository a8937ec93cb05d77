import { callKey, type RunRequest } from "@nova/engine";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { type Script, textRef } from "./harness.ts";
import type { Random } from "./random.ts";

/**
 * Returns a function that chooses how the code of a request behaves: slow or fast, with a blob to read or a large
 * result. One in five fails.
 */
export function randomCode(random: Random, workflow: Workflow, longest: number): (request: RunRequest) => Script {
  let ran = 0;
  const common = { logs: "", durationMs: 1 };
  const decide = (node: string): string => {
    const edges = nodeIndex(workflow).get(node)?.edges ?? [];
    // An edge that leads back is picked three times as often as another edge, so that loops take several rounds.
    const conditions = edges.flatMap(({ condition, max }) => (max ? [condition, condition, condition] : [condition]));
    return JSON.stringify(random.pick([...conditions, "something else"]));
  };
  return ({ node, nodeType, calls }) => {
    const script = { pauses: random.below(longest), ...(random.chance(0.1) && { reads: "letter" }) };
    const dice = random.next();
    if (calls && dice > 0.2 && random.chance(0.7)) {
      const call = { name: random.pick(toolsOf(workflow, node)), arguments: JSON.stringify({ n: ++ran }) };
      const set = [{ key: callKey, json: JSON.stringify(call) }];
      return { ...script, files: [], result: { ...common, status: "success", set, delete: [] } };
    }
    if (dice < 0.2) {
      const name = dice < 0.05 ? "NodeTimeout" : "NodeFailed";
      return {
        ...script,
        result: {
          ...common,
          status: "error",
          class: name,
          message: "it broke",
          traceback: "line 1",
          ...typed(name, dice),
        },
      };
    }
    // No two pieces of code set the same value, so that the checks see which one set it.
    const set = [{ key: node, json: `"run ${++ran}"` }];
    const files = random.chance(0.1) ? [Buffer.from(`report ${ran} `.repeat(500))] : [];
    for (const file of files) set.push({ key: "report", json: JSON.stringify({ $blob: textRef(file) }) });
    if (nodeType === "decision") set.push({ key: "branch_decision", json: decide(node) });
    return { ...script, files, result: { ...common, status: "success", set, delete: [] } };
  };
}

function toolsOf(workflow: Workflow, id: string): string[] {
  const node = nodeIndex(workflow).get(id)?.node;
  return node?.type === "agent" ? node.executor.tools.map(({ name }) => name) : [];
}

/** Adds the classes of an exception to half of the failures. A retry can name such a class. */
function typed(name: "NodeFailed" | "NodeTimeout", dice: number) {
  return name === "NodeFailed" && dice > 0.12 ? { types: ["ConnectionError", "OSError", "Exception"] } : {};
}
