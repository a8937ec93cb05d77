import { changeText } from "@nova/agents";
import { codeFileOf } from "@nova/workflow";
import { styled } from "../output/terminal.ts";
import type { PlanAction, Planned } from "./plan.ts";
import type { LockState, NodeState } from "./states.ts";

const done: Record<PlanAction, string> = {
  added: "locked",
  updated: "locked anew",
  edited: "your edit is locked now",
  restored: "its file is there again",
  unchanged: "locked as before",
  none: "no code yet for the node as it is now - run it with a model, then lock again",
};

/** What `nova lock` did. */
export function lockLines(planned: readonly Planned[], removed: readonly string[], approval?: "required"): string[] {
  if (planned.length === 0 && removed.length === 0) return ["no node has a prompt: there is nothing to lock"];
  return [
    ...planned.flatMap(({ node, action, locked }) => [
      `${styled(action === "none" ? "yellow" : "green", node)}: ${done[action]}`,
      ...(locked ? [styled("dim", `  ${codeFileOf(node)}${originText(locked)}`)] : []),
      ...(locked && approval && !locked.approved
        ? ["  nobody has approved it: look at it, then nova lock approve"]
        : []),
    ]),
    ...removed.map((node) => `${node}: removed from the lock`),
  ];
}

function originText({ origin, model, cost, provenBy }: NonNullable<Planned["locked"]>): string {
  const writer = origin === "edited" ? "edited by hand" : `written by ${model} for $${cost.usd.toFixed(4)}`;
  return `, ${writer}${provenBy === undefined ? "" : `, proven by ${provenBy}`}`;
}

const meanings: Record<LockState, string> = {
  locked: "locked",
  unlocked: "has no locked code - run it with a model, then nova lock",
  missing: "its code file is gone - take it from version control, or nova lock",
  edited: "its code was edited by hand - nova lock takes the edit as the new locked code",
  stale: "its code was written for something else",
  unapproved: "nobody has approved its code - look at it, then nova lock approve",
  stranger: "is no prompt node any more - nova lock removes it",
};

/** What `nova lock --check` found. */
export function checkLines(states: readonly NodeState[], path: string): string[] {
  const wrong = states.filter(({ state }) => state !== "locked").length;
  const all =
    wrong === 0
      ? `the code of every prompt node of ${path} is locked`
      : `${wrong} of ${states.length} nodes cannot run frozen as they are`;
  return [...states.map(stateLine), all];
}

function stateLine({ node, state, changes }: NodeState): string {
  const since = state === "stale" ? `, changed since: ${changes.map(changeText).join(", ") || "its key"}` : "";
  const mark = state === "locked" ? styled("green", "✓") : styled("red", "✗");
  return `${mark} ${styled("bold", node)} ${meanings[state]}${since}`;
}
