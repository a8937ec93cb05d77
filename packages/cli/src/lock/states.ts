import { type Change, type Generator, generationKey, ingredientsToday, staleness } from "@nova/agents";
import type { LockRecord } from "@nova/workflow";
import type { LockFolder, PromptNode } from "./folder.ts";

/**
 * `unlocked`: no lock entry; `missing`: the code file is missing; `edited`: the file was edited; `stale`: the code was
 * written for another definition; `unapproved`: approval is required but missing; `stranger`: no prompt node has this
 * id.
 */
export type LockState = "locked" | "unlocked" | "missing" | "edited" | "stale" | "unapproved" | "stranger";

export interface NodeState {
  node: string;
  state: LockState;
  /** The changed ingredients of a stale node. */
  changes: Change[];
  record?: LockRecord;
}

/**
 * The state of each node for a frozen run; entries without a prompt node come last. It depends only on the definition,
 * not on inputs.
 */
export function lockStates({ prompts, entries }: LockFolder, generator: Generator): NodeState[] {
  const states = prompts.map((prompt) => stateOf(prompt, entries, generator));
  const known = new Set(prompts.map(({ node }) => node.id));
  const strangers = Object.entries(entries).filter(([node]) => !known.has(node));
  return [
    ...states,
    ...strangers.map(([node, { record }]): NodeState => ({ node, state: "stranger", changes: [], record })),
  ];
}

function stateOf(prompt: PromptNode, entries: LockFolder["entries"], generator: Generator): NodeState {
  const { node, version } = prompt;
  const entry = Object.hasOwn(entries, node.id) ? entries[node.id] : undefined;
  if (!entry) return { node: node.id, state: "unlocked", changes: [] };
  const { record, state } = entry;
  const common = { node: node.id, changes: [], record };
  if (state !== "locked") return { ...common, state };
  const today = ingredientsToday(prompt, generator, record.ingredients);
  if (generationKey(today) !== record.key) return { ...common, state: "stale", changes: staleness(record, today) };
  const isMissed = version.workflow.approval === "required" && !record.approved;
  return { ...common, state: isMissed ? "unapproved" : "locked" };
}
