import { type Change, readChanges } from "../flow/changes.ts";
import { Paths } from "../flow/paths.ts";
import { type Printed, type Read, readPrinted, readReads } from "../flow/printed.ts";
import type { LineColumn } from "../lines.ts";
import type { Program } from "../scope/program.ts";
import type { ContextShape } from "../shape.ts";
import { Types } from "../values/types.ts";

export interface NodeFacts {
  nodeType: "action" | "decision";
  /** Conditions of a decision's edges, as written; absent: unknown. */
  edges?: readonly string[];
  context?: ContextShape;
  /** The context is that of an actual run, so the absence of an analysis of the data is certain. */
  isRun?: boolean;
  /** Importable top-level modules in addition to the standard library; absent: any. */
  modules?: readonly string[];
  /** Modules of the workflow's `lib/`: `mails`, or `lib/mails.py`. */
  lib?: readonly string[];
}

export interface Subject {
  facts: NodeFacts;
  program: Program;
  paths: Paths;
  types: Types;
  changes: readonly Change[];
  reads: readonly Read[];
  printed: Printed;
  /** The code only analyses data for other code: its `result` counts. */
  isAnalysis: boolean;
}

/** A finding whose position is not yet converted to lines. */
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
    types: new Types(program, paths),
    changes: readChanges(program, paths, facts.context),
    reads: readReads(program, paths),
    printed: readPrinted(program),
    isAnalysis: stages.includes("ANALYSIS") && !stages.includes("TASK"),
  };
}

/** All codes with their severities (docs/python-findings.md). A code keeps its meaning, and is never used again. */
export const codeFindings = {
  PY101: "error",
  PY102: "error",
  PY103: "error",
  PY104: "warning",
  PY105: "error",
  PY110: "error",
  PY111: "error",
  PY112: "warning",
  PY113: "error",
  PY120: "error",
  PY121: "warning",
  PY122: "warning",
  PY130: "error",
  PY140: "error",
  PY141: "error",
  PY150: "error",
  PY151: "error",
} as const;

export type CodeFindingCode = keyof typeof codeFindings;

export interface CodeFinding extends LineColumn {
  code: CodeFindingCode;
  message: string;
  severity: "error" | "warning";
}
