import { Paths } from "../../../packages/python/src/flow/paths.ts";
import { Program } from "../../../packages/python/src/scope/program.ts";
import { type Expression, walk } from "../../../packages/python/src/tree/nodes.ts";
import { parsePython } from "../../../packages/python/src/tree/parse.ts";

export function programOf(source: string): Program {
  const tree = parsePython(source);
  if (!tree) throw new Error(`lezer cannot read ${source}`);
  return new Program(source, tree);
}

export function pathsOf(program: Program): Paths {
  return new Paths(program);
}

/** Returns the expression that a test examines: the value of the last `_ = ...` in the source. */
export function askedIn(program: Program): Expression {
  const asked = program.nodes.flatMap((node) => {
    const [target] = node.kind === "assign" ? node.targets : [];
    return node.kind === "assign" && node.value && target?.kind === "name" && target.id === "_" ? [node.value] : [];
  });
  const last = asked.at(-1);
  if (!last) throw new Error("the source has no _ = ...");
  return last;
}

export function kindsOf(program: Program): string[] {
  return Array.from(walk(program.tree), ({ kind }) => kind);
}
