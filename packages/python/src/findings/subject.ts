import { type Change, readChanges } from "../flow/changes.ts";
import { Paths } from "../flow/paths.ts";
import { type Printed, type Read, readPrinted, readReads } from "../flow/printed.ts";
import type { LineColumn } from "../lines.ts";
import type { Program } from "../scope/program.ts";
import type { ContextShape } from "../shape.ts";
import { createTypeOf, type TypeOf } from "../values/types.ts";

export interface NodeFacts {
  nodeType: "action" | "decision";
  /** Conditions of a decision's edges, as written; absent: unknown. */
  edges?: readonly string[];
  context?: ContextShape;
  /**
   * True if `context` is the context of a node that is running. Without the key `_data_analysis` in it, no analysis of
   * the data was made. In any other context, an absent key may still appear later.
   */
  isRun?: boolean;
  /** Importable top-level modules in addition to the standard library; absent: any. */
  modules?: readonly string[];
  /** Modules of the workflow's `lib/`, each as `mails` or as `lib/mails.py`. */
  lib?: readonly string[];
}

export interface Subject {
  facts: NodeFacts;
  program: Program;
  paths: Paths;
  typeOf: TypeOf;
  changes: readonly Change[];
  reads: readonly Read[];
  printed: Printed;
  /** True for code that only analyses the data for other code. Its result is the variable `result`. */
  isAnalysis: boolean;
}

/** A finding with the offset of its position. `checkNodeCode` converts the offset to line and column. */
export interface Problem {
  code: CodeFindingCode;
  at: number;
  message: string;
}

export function readSubject(program: Program, facts: NodeFacts): Subject {
  const paths = new Paths(program);
  const marks = program.source.matchAll(/^[ \t]*#[ \t]*STAGE:[ \t]*(\w+)/gim);
  const stages = Array.from(marks, ([, stage = ""]) => stage.toUpperCase());
  return {
    facts,
    program,
    paths,
    typeOf: createTypeOf(program, paths),
    changes: readChanges(program, paths, facts.context),
    reads: readReads(program, paths),
    printed: readPrinted(program),
    isAnalysis: stages.includes("ANALYSIS") && !stages.includes("TASK"),
  };
}

/**
 * All codes with their severities (docs/python-findings.md). A code never changes its meaning, and the code of a
 * removed finding is never reused.
 */
const errors = [101, 102, 103, 105, 110, 111, 113, 120, 130, 140, 141, 150, 151] as const;
const warnings = [104, 112, 121, 122] as const;

export type CodeFindingCode = `PY${(typeof errors | typeof warnings)[number]}`;

export const codeFindings = Object.fromEntries([
  ...errors.map((number) => [`PY${number}`, "error"]),
  ...warnings.map((number) => [`PY${number}`, "warning"]),
]) as Record<CodeFindingCode, "error" | "warning">;

export interface CodeFinding extends LineColumn {
  code: CodeFindingCode;
  message: string;
  severity: "error" | "warning";
}
