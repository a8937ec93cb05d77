import { changeText } from "@nova/agents";
import { codeFileOf } from "@nova/workflow";
import { styled } from "../output/terminal.ts";
import type { PlanAction, Planned } from "./plan.ts";
import type { LockState, NodeState } from "./states.ts";

const actionTexts: Record<PlanAction, string> = {
  added: "locked",
  updated: "locked again",
  edited: "your edit is locked now",
  restored: "its file is restored",
  unchanged: "unchanged",
  none: "no code for the current definition of the node - run it with a model, then lock again",
};

/** Describes the result of `nova lock`. */
export function lockLines(planned: readonly Planned[], removed: readonly string[], approval?: "required"): string[] {
  if (planned.length === 0 && removed.length === 0) return ["no node has a prompt, so no code can be locked"];
  return [
    ...planned.flatMap(({ node, action, locked }) => [
      `${styled(action === "none" ? "yellow" : "green", node)}: ${actionTexts[action]}`,
      ...(locked ? [styled("dim", `  ${codeFileOf(node)}${originText(locked)}`)] : []),
      ...(locked && approval && !locked.approved ? ["  it is not approved: review it, then nova lock approve"] : []),
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
  edited: "its code was edited by hand - nova lock locks the edit",
  stale: "its code was written for another definition",
  unapproved: "its code is not approved - review it, then nova lock approve",
  stranger: "is no longer a prompt node - nova lock removes it",
};

/** Describes the result of `nova lock --check`. */
export function checkLines(states: readonly NodeState[], path: string): string[] {
  const wrong = states.filter(({ state }) => state !== "locked").length;
  const all =
    wrong === 0
      ? `the code of every prompt node of ${path} is locked`
      : `${wrong} of ${states.length} nodes cannot run frozen now`;
  return [...states.map(stateLine), all];
}

function stateLine({ node, state, changes }: NodeState): string {
  const since = state === "stale" ? `, changed since: ${changes.map(changeText).join(", ") || "its key"}` : "";
  const mark = state === "locked" ? styled("green", "✓") : styled("red", "✗");
  return `${mark} ${styled("bold", node)} ${meanings[state]}${since}`;
}
