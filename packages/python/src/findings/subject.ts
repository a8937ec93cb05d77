import { type Change, readChanges } from "../flow/changes.ts";
import { Paths } from "../flow/paths.ts";
import { type Printed, readPrinted } from "../flow/printed.ts";
import { type Read, readReads } from "../flow/reads.ts";
import type { Program } from "../scope/program.ts";
import type { ContextShape } from "../shape.ts";
import { Types } from "../values/types.ts";
import type { CodeFindingCode } from "./codes.ts";

/** What is known of a node before its code is read. */
export interface NodeFacts {
  nodeType: "action" | "decision";
  /** Conditions of the edges that leave a decision, as written; absent: nothing is known of them. */
  edges?: readonly string[];
  /** Absent: nothing is known of the keys. */
  context?: ContextShape;
  /** The context is that of the very run: an analysis of the data is among its keys, or is not there. */
  isRun?: boolean;
  /** Importable top-level modules besides the standard library; absent: any. */
  modules?: readonly string[];
  /** Modules of the workflow's `lib/`: `mails`, or `lib/mails.py`. */
  lib?: readonly string[];
}

/** A node's code, and all that was read out of it. */
export interface Subject {
  facts: NodeFacts;
  program: Program;
  paths: Paths;
  types: Types;
  changes: readonly Change[];
  reads: readonly Read[];
  printed: Printed;
  /** The code looks at data for another code: its `result` is what counts. */
  isAnalysis: boolean;
}

/** A finding before its place is counted in lines. */
export interface Problem {
  code: CodeFindingCode;
  /** In UTF-16 units from the start of the source. */
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
