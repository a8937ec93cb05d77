import { parseWorkflow } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Draft, DraftNode } from "../ports/sessions.ts";
import { isStep, withNode } from "./draft.ts";
import { partAlone, sourceOfPart } from "./part.ts";
import { shapeOf } from "./shape.ts";

/** What a node of a draft may still lack; a run asks for it. */
const mayBeMissing = new Set(["NOVA401"]);

/** Throws `Refused` for a node that could never run: an unknown kind, a key that its kind has not, a wrong value. */
export async function demandNode(draft: Draft, node: DraftNode): Promise<void> {
  const others = draft.nodes.filter(({ id }) => id !== node.id);
  const alone = withNode({ ...draft, nodes: others }, node);
  const part = isStep(node) ? partAlone(shapeOf(alone), node) : { steps: [], nodes: [node], edges: [] };
  const { findings } = parseWorkflow(sourceOfPart(draft, part, "draft"));
  const at = part.nodes.indexOf(node) >= 0 ? part.nodes.indexOf(node) : 1;
  const own = findings.filter(
    ({ severity, path, code }) =>
      severity === "error" &&
      !mayBeMissing.has(code) &&
      (path === `$.nodes[${at}]` || path.startsWith(`$.nodes[${at}].`)),
  );
  const [first] = own;
  if (first) throw new Refused(first.message, own);
}
