import { parseWorkflow } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Draft, DraftNode } from "../ports/sessions.ts";
import { isStep, withNode } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { partAlone, sourceOfPart } from "./part.ts";

/** Findings that a draft may have for now, such as a missing file. They count when it runs. */
const mayBeMissing = new Set(["NOVA401", "NOVA512", "NOVA515"]);

/** Throws `Refused` for a node that can never run: an unknown kind, an unknown key of its kind, or an invalid value. */
export async function demandNode(draft: Draft, node: DraftNode): Promise<void> {
  const others = draft.nodes.filter(({ id }) => id !== node.id);
  const alone = withNode({ ...draft, nodes: others }, node);
  const part = partAlone(alone, buildDraftGraph(alone), node);
  const at = part.nodes.findIndex(({ id }) => id === node.id);
  const nodes = isStep(node) ? part.nodes : part.nodes.with(1, node);
  const { findings } = parseWorkflow(sourceOfPart(draft, { ...part, nodes }, { id: "draft", isRecorded: () => false }));
  const place = `$.nodes[${Math.max(at, 1)}]`;
  const own = findings.filter(
    ({ severity, path, code }) =>
      severity === "error" && !mayBeMissing.has(code) && (path === place || path.startsWith(`${place}.`)),
  );
  const [first] = own;
  if (first) throw new Refused(first.message, own);
}
