import type { Change } from "../flow/changes.ts";
import { knownEntries } from "../flow/dicts.ts";
import type { Expression } from "../tree/nodes.ts";
import { mayActElsewhere } from "./result.ts";
import type { Problem, Subject } from "./subject.ts";
import { findNearest } from "./suggest.ts";

const key = "branch_decision";

/** PY130: a decision that sets no branch. Whether an edge matches the branch is only known at run time. */
export function findUndecided(subject: Subject): Problem[] {
  const { facts, program, isAnalysis } = subject;
  if (facts.nodeType !== "decision" || isAnalysis) return [];
  if (mayDecide(subject)) return [];
  return [{ code: "PY130", at: program.tree.statements.at(-1)?.from ?? 0, message: neverDecides(subject) }];
}

/** Whether the code may set `branch_decision`: by a change, a printed result, or a call for its side effect. */
export function mayDecide(subject: Subject): boolean {
  // A printed result can decide too, unless all its keys are known and none is the decision.
  const mayPrintDecision = printedKeys(subject)?.includes(key) !== false;
  return mayPrintDecision || subject.changes.some(maySetDecision) || mayActElsewhere(subject.program);
}

function maySetDecision({ kind, path, key: known }: Change): boolean {
  if (kind === "delete" || (!path && known !== undefined && known !== key)) return false;
  return !path || path.length === 0 || (kind === "set" && path.length === 1 && path[0] === key);
}

function neverDecides({ facts, changes }: Subject): string {
  const set = changes.flatMap(({ kind, path }) => (kind === "set" && path?.length === 1 ? [path[0] as string] : []));
  const slip = findNearest(key, set);
  if (slip !== undefined) return `the decision never decides: it sets context["${slip}"] - write context["${key}"]`;
  const edges = facts.edges?.length
    ? `one of ${facts.edges.map((edge) => JSON.stringify(edge)).join(", ")}`
    : "the condition of an edge";
  return `the decision never decides - set context["${key}"] to ${edges}`;
}

/** The keys that a printed result may set; undefined if it may set others. */
export function printedKeys({ printed, program, paths }: Subject): string[] | undefined {
  if (!printed.mayPrint) return [];
  return printed.values && joined(printed.values);

  function joined(values: readonly Expression[]): string[] | undefined {
    const all = values.map(keysOf);
    return all.every((keys) => keys !== undefined) ? all.flat() : undefined;
  }

  /** A printed context adds no keys to those that the code sets in it. */
  function keysOf(value: Expression): string[] | undefined {
    if (paths.isContext(value)) return [];
    const entries = knownEntries(program, value);
    const updates = entries?.filter(({ key }) => key === "context_updates").map((entry) => entry.value) ?? [];
    return updates.length > 0 ? joined(updates) : entries?.map(({ key }) => key);
  }
}
