import type { Change } from "../flow/changes.ts";
import { knownEntries } from "../flow/dicts.ts";
import type { Program } from "../scope/program.ts";
import type { Expression } from "../tree/nodes.ts";
import { mayActElsewhere } from "./result.ts";
import type { Problem, Subject } from "./subject.ts";
import { nearest } from "./suggest.ts";

const key = "branch_decision";

/** PY130 to PY132: decisions that lead nowhere. */
export function undecided(subject: Subject): Problem[] {
  const { facts, program, changes, isAnalysis } = subject;
  if (facts.nodeType !== "decision" || isAnalysis) return [];
  const setters = changes.filter(maySetDecision);
  if (!mayDecide(subject)) {
    return [{ code: "PY130", at: program.tree.statements.at(-1)?.from ?? 0, message: neverDecides(subject) }];
  }
  const values = setters.map(({ kind, value }) => (kind === "set" && value ? value : undefined));
  if (!facts.edges || facts.edges.length === 0 || mayPrintDecision(subject)) return [];
  return fitting(values, facts.edges, setters, program);
}

/** Whether the code may set `branch_decision`, by what it sets, prints, or calls for its effect alone. */
export function mayDecide(subject: Subject): boolean {
  return subject.changes.some(maySetDecision) || mayPrintDecision(subject) || mayActElsewhere(subject.program);
}

function maySetDecision({ kind, path, key: known }: Change): boolean {
  if (kind === "delete" || (!path && known !== undefined && known !== key)) return false;
  return !path || path.length === 0 || (kind === "set" && path.length === 1 && path[0] === key);
}

function neverDecides({ facts, changes }: Subject): string {
  const set = changes.flatMap(({ kind, path }) => (kind === "set" && path?.length === 1 ? [path[0] as string] : []));
  const slip = nearest(key, set);
  if (slip !== undefined) return `the decision never decides: it sets context["${slip}"] - write context["${key}"]`;
  const edges = facts.edges?.length ? `one of ${listed(facts.edges)}` : "the condition of an edge";
  return `the decision never decides - set context["${key}"] to ${edges}`;
}

/** A printed result can decide as well, unless all its keys are in sight. */
function mayPrintDecision(subject: Subject): boolean {
  const { printed } = subject;
  if (!printed.mayPrint) return false;
  return !printed.values || printed.values.some((value) => mayHoldDecision(value, subject, 0));
}

/** The context itself, printed, holds what is set in it. */
function mayHoldDecision(value: Expression, subject: Subject, depth: number): boolean {
  const { program, paths } = subject;
  if (depth > 6) return true;
  if (paths.isContext(value) || isPickedFrom(value, subject)) return false;
  if (value.kind === "dict") return value.entries.some((entry) => mayBeDecision(entry, subject, depth));
  if (/^(text|number|constant|format|list|tuple)$/.test(value.kind)) return false;
  const entries = knownEntries(program, value);
  if (!entries) return true;
  return entries.some(
    (entry) =>
      entry.key === key || (entry.key === "context_updates" && mayHoldDecision(entry.value, subject, depth + 1)),
  );
}

function mayBeDecision(entry: { key: Expression | null; value: Expression }, subject: Subject, depth: number): boolean {
  const name = entry.key ? subject.paths.key(entry.key) : "context_updates";
  if (name === "context_updates") return mayHoldDecision(entry.value, subject, depth + 1);
  return name === undefined || name === key;
}

/** `{name: context[name] for name in ...}` has nothing that the context has not. */
function isPickedFrom(value: Expression, { paths }: Subject): boolean {
  if (value.kind !== "comprehension" || value.form !== "dict") return false;
  return value.element.kind === "subscript" && paths.isContext(value.element.object);
}

/** Literals that no edge has: an error where there is nothing else. */
function fitting(
  values: readonly (Expression | undefined)[],
  edges: readonly string[],
  setters: readonly Change[],
  program: Program,
): Problem[] {
  const possible = values.map((value) => value && literals(value, program, 0));
  const wrong = possible.map((all) => all?.filter((literal) => !leadsOn(literal, edges)) ?? []);
  const isHopeless = possible.every((all, index) => all && all.length > 0 && all.length === wrong[index]?.length);
  return wrong.flatMap((found, index) => {
    const [first] = found;
    if (first === undefined) return [];
    const at = (values[index] ?? setters[index]?.node)?.from ?? 0;
    const message = `no edge has the condition ${shown(first)} - set context["${key}"] to one of ${listed(edges)}`;
    return [{ code: isHopeless ? ("PY131" as const) : ("PY132" as const), at, message }];
  });
}

type Literal = string | number | boolean | null;

/** Every value that an expression can have, where all of them are written out. */
function literals(value: Expression, program: Program, depth: number): Literal[] | undefined {
  if (depth > 6) return undefined;
  switch (value.kind) {
    case "text":
      return [value.value];
    case "number":
      return /^\d+(\.\d+)?$/.test(value.text) ? [Number(value.text)] : undefined;
    case "constant":
      return value.value === undefined ? undefined : [value.value];
    case "conditional":
      return joined([value.yes, value.no], program, depth);
    case "unary":
      return value.op === "not" ? [true, false] : undefined;
    case "binary":
      return /^([<>]=?|[!=]=|(not )?in|is( not)?)$/.test(value.op) ? undefinedForFrames(value) : undefined;
    case "name":
      return ofName(value, program, depth);
    default:
      return undefined;
  }
}

/** Comparisons with calls and parts of objects may be a library's own. */
function undefinedForFrames({ left, right }: Expression & { kind: "binary" }): Literal[] | undefined {
  return [left, right].some(({ kind }) => kind === "number" || kind === "text" || kind === "constant")
    ? [true, false]
    : undefined;
}

function ofName(name: Expression & { kind: "name" }, program: Program, depth: number): Literal[] | undefined {
  const bindings = program.reaching(name);
  if (bindings.length === 0 || bindings.some(({ origin }) => origin.kind !== "value")) return undefined;
  const values = bindings.flatMap(({ origin }) => (origin.kind === "value" ? [origin.value] : []));
  return joined(values, program, depth);
}

function joined(values: readonly Expression[], program: Program, depth: number): Literal[] | undefined {
  const all = values.map((value) => literals(value, program, depth + 1));
  return all.every((each) => each !== undefined) ? all.flat() : undefined;
}

/** As the engine decides: the exact edge, booleans in their disguises, then the default. */
function leadsOn(value: Literal, edges: readonly string[]): boolean {
  if (edges.includes("default") || edges.includes(String(value))) return true;
  const isNumeric = edges.some((edge) => /^-?\d+(\.\d+)?$/.test(edge));
  const truth = (value === 0 || value === 1) && !isNumeric ? value === 1 : booleanOf(value);
  return truth !== undefined && edges.some((edge) => booleanOf(edge) === truth);
}

function booleanOf(value: Literal): boolean | undefined {
  if (typeof value === "boolean") return value;
  const lower = typeof value === "string" ? value.toLowerCase() : "";
  return lower === "true" ? true : lower === "false" ? false : undefined;
}

function shown(value: Literal): string {
  return value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value);
}

function listed(edges: readonly string[]): string {
  return edges.map((edge) => JSON.stringify(edge)).join(", ");
}
