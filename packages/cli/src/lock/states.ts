import { type Change, type Generator, generationKey, ingredientsToday, staleness } from "@nova/agents";
import type { LockRecord } from "@nova/workflow";
import type { LockFolder, PromptNode } from "./folder.ts";

/**
 * `unlocked`: it has no entry; `missing`: its code file is gone; `edited`: that holds something else; `stale`: it was
 * written for something else; `unapproved`: approval is required, and not given; `stranger`: no prompt node is called so.
 */
export type LockState = "locked" | "unlocked" | "missing" | "edited" | "stale" | "unapproved" | "stranger";

export interface NodeState {
  node: string;
  state: LockState;
  /** Of what is stale. */
  changes: Change[];
  record?: LockRecord;
}

/** What a frozen run would find, node by node; strangers last. Only the definition is asked: inputs come with a run. */
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
  const told = { node: node.id, changes: [], record };
  if (state !== "locked") return { ...told, state };
  const today = ingredientsToday(prompt, generator, record.ingredients);
  if (generationKey(today) !== record.key) return { ...told, state: "stale", changes: staleness(record, today) };
  const isMissed = version.workflow.approval === "required" && !record.approved;
  return { ...told, state: isMissed ? "unapproved" : "locked" };
}
