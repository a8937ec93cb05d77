import { isObject, type Json } from "../../../json.ts";
import type { Scope } from "../scope.ts";
import { type ParsedPath, parsePath, type Step } from "./parse-path.ts";

export interface Path {
  text: string;
  /** @throws PathNotFound when the path is definite and nothing is there. */
  read(scope: Scope): Json;
}

/** Nothing is where the path points; each field that holds a path words this in its own way. */
export class PathNotFound extends Error {
  override readonly name = "PathNotFound";
}

/** Parses once; reading later walks the steps only. */
export function compilePath(text: string, at: string): Path {
  const parsed = parsePath(text, at);
  const { root, steps } = parsed;
  if (steps.every(isDefinite)) return { text, read: (scope) => readOne(scope[root], parsed) };
  return { text, read: (scope) => readMany(scope[root], steps) };
}

function isDefinite(step: Step): boolean {
  return step.kind === "key" || step.kind === "index";
}

function readOne(start: Json, { steps }: ParsedPath): Json {
  let value = start;
  for (let depth = 0; depth < steps.length; depth++) {
    const next = child(value, steps[depth] as Step);
    if (next === undefined) throw new PathNotFound(describeMissing(steps, depth));
    value = next;
  }
  return value;
}

/** An indefinite path answers the list of what it found, which may be empty. */
function readMany(start: Json, steps: readonly Step[]): Json[] {
  let found = [start];
  for (const step of steps) found = found.flatMap((value) => select(value, step));
  return found;
}

function select(value: Json, step: Step): Json[] {
  switch (step.kind) {
    case "wildcard":
      return childrenOf(value);
    case "descend":
      return [value, ...childrenOf(value).flatMap((inner) => select(inner, step))];
    case "slice":
      return Array.isArray(value) ? value.slice(step.from, step.to) : [];
    case "union":
      return step.steps.flatMap((one) => select(value, one));
    default: {
      const next = child(value, step);
      return next === undefined ? [] : [next];
    }
  }
}

function childrenOf(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function child(value: Json, step: Step): Json | undefined {
  if (step.kind === "key") return isObject(value) && Object.hasOwn(value, step.key) ? value[step.key] : undefined;
  if (step.kind === "index") return Array.isArray(value) ? value.at(step.index) : undefined;
  return undefined;
}

/** AWS's two wordings: the last step is "no results", an earlier one a "missing property". */
function describeMissing(steps: readonly Step[], depth: number): string {
  const path = `$${steps
    .slice(0, depth + 1)
    .map(bracketed)
    .join("")}`;
  return depth === steps.length - 1 ? `No results for path: ${path}` : `Missing property in path ${path}`;
}

function bracketed(step: Step): string {
  return step.kind === "key" ? `['${step.key}']` : step.kind === "index" ? `[${step.index}]` : "";
}
