import { readChanges } from "./flow/changes.ts";
import { type Path, Paths } from "./flow/paths.ts";
import { Reach } from "./flow/reach.ts";
import { readReads } from "./flow/reads.ts";
import { Program } from "./scope/program.ts";

export interface ContextAccess {
  /** `optional`: nowhere taken for granted (`.get()`, `in`). */
  reads: { path: string; optional: boolean }[];
  sets: string[];
  deletes: string[];
}

/**
 * The keys of the context that code names literally, as dot paths from the top; of what is in lists, the list. Keys that
 * it computes are not in it, nor is anything where the source cannot be read.
 */
export async function contextAccess(source: string): Promise<ContextAccess> {
  const program = Program.read(source);
  if (!program) return { reads: [], sets: [], deletes: [] };
  const paths = new Paths(program);
  const changes = readChanges(program, paths, new Reach(program, paths, undefined));
  const reads = new Map<string, boolean>();
  for (const { path, optional } of readReads(program, paths)) {
    const name = dotPath(path);
    reads.set(name, optional && (reads.get(name) ?? true));
  }
  const named = (kind: "set" | "delete") =>
    changes.flatMap((change) => (change.kind === kind && change.path?.length ? [dotPath(change.path)] : []));
  return {
    reads: Array.from(reads, ([path, optional]) => ({ path, optional })),
    sets: Array.from(new Set(named("set"))),
    deletes: Array.from(new Set(named("delete"))),
  };
}

function dotPath(path: Path): string {
  const list = path.indexOf("[]");
  return (list < 0 ? path : path.slice(0, list)).join(".");
}
