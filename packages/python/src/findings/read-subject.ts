import { readChanges } from "../flow/changes.ts";
import { Paths } from "../flow/paths.ts";
import { readPrinted } from "../flow/printed.ts";
import { Reach } from "../flow/reach.ts";
import { readReads } from "../flow/reads.ts";
import type { Program } from "../scope/program.ts";
import { Types } from "../values/types.ts";
import type { NodeFacts, Subject } from "./subject.ts";

export function readSubject(program: Program, facts: NodeFacts): Subject {
  const paths = new Paths(program);
  const reach = new Reach(program, paths, facts.context);
  const stages = Array.from(program.source.matchAll(/^[ \t]*#[ \t]*STAGE:[ \t]*(\w+)/gim), ([, stage = ""]) =>
    stage.toUpperCase(),
  );
  return {
    facts,
    program,
    paths,
    reach,
    types: new Types(program, paths),
    changes: readChanges(program, paths, reach),
    reads: readReads(program, paths),
    printed: readPrinted(program),
    isAnalysis: stages.includes("ANALYSIS") && !stages.includes("TASK"),
  };
}
