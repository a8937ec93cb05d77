import { nodeIndex, type Workflow } from "@nova/workflow";
import { nodeAt } from "../replay/recorded.ts";
import type { Fixture } from "./fixture.ts";
import { codeOf, liveNodes } from "./steps.ts";

/** Why a test says nothing about the workflow as it is now: its record is one of other nodes. */
export interface Staleness {
  node: string;
  /** One sentence. */
  message: string;
  /** What the node is called now. */
  renamed?: string;
}

/** What nodes that are taken from the record were, and are not any more. What a test runs itself may be changed. */
export function staleNodes(fixture: Fixture, workflow: Workflow): Staleness[] {
  const index = nodeIndex(workflow);
  const live = liveNodes(workflow);
  const recorded = new Set(Object.keys(fixture.outcomes).map(nodeAt));
  return Array.from(recorded).flatMap((node): Staleness[] => {
    if (!index.has(node)) return [goneNode(node, fixture, workflow)];
    const changed = live.has(node) ? undefined : changedPart(node, fixture, workflow);
    return changed
      ? [{ node, message: `the ${changed} of node "${node}" was changed since its outcome was recorded` }]
      : [];
  });
}

function changedPart(node: string, was: Fixture, workflow: Workflow): "prompt" | "code" | undefined {
  const is = codeOf(workflow);
  if (was.prompts[node] !== is.prompts[node]) return "prompt";
  const [before, now] = [was.code[node], is.code[node]];
  // Of code that is not locked nobody knows what it will be, and what is not recorded is not compared.
  const isKnown = before !== undefined && (now !== undefined || is.prompts[node] === undefined);
  return isKnown && before !== now ? "code" : undefined;
}

/** A new node that alone has the code of one that is gone is that one under a new name. */
function goneNode(node: string, fixture: Fixture, workflow: Workflow): Staleness {
  const { code, prompts } = codeOf(workflow);
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
