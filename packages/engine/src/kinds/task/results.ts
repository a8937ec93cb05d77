import type { Member } from "@nova/workflow";
import { type Node, nodeIndex, type Workflow } from "@nova/workflow";
import { asReference, referenceText } from "../../context/references.ts";

/** A node that others may name: of the version, or in front of the part of a draft that it is. */
export function knownNode(workflow: Workflow, id: string): Node | undefined {
  return workflow.draftPrefix?.nodes.find((node) => node.id === id) ?? nodeIndex(workflow).get(id)?.node;
}

/** What a node has set, as others find it under its name: a text node's answer is there in three words that mean the same. */
export function resultsOf(node: Node | undefined, set: readonly Member[]): Member[] {
  if (!node || !("executor" in node) || node.executor.kind !== "text") return [...set];
  const { into } = node.executor;
  const output = set.find(({ key }) => key === into)?.json;
  if (output === undefined) return [...set];
  const text = textOfAnswer(output);
  return [
    { key: "output", json: output },
    { key: "generated_text", json: text },
    { key: "content", json: text },
  ];
}

/** JSON text of an answer as a text: an object's JSON, and where that is a blob the same blob read as text. */
function textOfAnswer(json: string): string {
  const value: unknown = JSON.parse(json);
  if (typeof value === "string") return json;
  const ref = value !== null && typeof value === "object" ? asReference(value) : undefined;
  return ref ? referenceText({ ...ref, type: "text" }) : JSON.stringify(json);
}
