import { nodeIndex, type Workflow } from "@nova/workflow";
import { nodeOfPlace } from "../replay/recorded.ts";
import type { Fixture } from "./fixture.ts";
import { hashCode, listLiveNodes } from "./steps.ts";

/** The reason why a test does not match the current workflow: a recorded node has changed. */
export interface Staleness {
  node: string;
  /** One sentence. */
  message: string;
  /** The current name of the node. */
  renamed?: string;
}

/**
 * Finds nodes whose recorded outcome the test uses and that have changed since. Nodes that the test runs may change.
 */
export function findStaleNodes(fixture: Fixture, workflow: Workflow): Staleness[] {
  const index = nodeIndex(workflow);
  const live = listLiveNodes(workflow);
  const recorded = new Set(Object.keys(fixture.outcomes).map(nodeOfPlace));
  return Array.from(recorded).flatMap((node): Staleness[] => {
    if (!index.has(node)) return [goneNode(node, fixture, workflow)];
    const changed = live.has(node) ? undefined : changedPart(node, fixture, workflow);
    return changed
      ? [{ node, message: `the ${changed} of node "${node}" was changed since its outcome was recorded` }]
      : [];
  });
}

function changedPart(node: string, was: Fixture, workflow: Workflow): "prompt" | "code" | undefined {
  const is = hashCode(workflow);
  if (was.prompts[node] !== is.prompts[node]) return "prompt";
  const [before, now] = [was.code[node], is.code[node]];
  // The future code of an unlocked prompt node is unknown, and code without a record cannot be compared.
  const isKnown = before !== undefined && (now !== undefined || is.prompts[node] === undefined);
  return isKnown && before !== now ? "code" : undefined;
}

/** Finds the new name of a missing node: the only new node with the same code. */
function goneNode(node: string, fixture: Fixture, workflow: Workflow): Staleness {
  const { code, prompts } = hashCode(workflow);
  const isNew = (id: string) => fixture.code[id] === undefined && fixture.prompts[id] === undefined;
  const ids = Array.from(new Set([...Object.keys(code), ...Object.keys(prompts)])).filter(isNew);
  const alike = ids.filter((id) =>
    prompts[id] === undefined
      ? code[id] === fixture.code[node] && fixture.prompts[node] === undefined
      : prompts[id] === fixture.prompts[node],
  );
  const message = `node "${node}" is not in the workflow any more`;
  const [renamed] = alike;
  if (renamed === undefined || alike.length > 1) return { node, message };
  return { node, message: `${message}: it is called "${renamed}" now`, renamed };
}
