import type { Paths } from "../flow/paths.ts";
import type { Program } from "../scope/program.ts";
import { expectsKeyError } from "./guards.ts";

/** A node that the code looks up by its id: the link of a wait in `tasks`, the results of a node in `outputs`. */
export interface LookedUpNode {
  id: string;
  at: number;
}

/** The nodes that the code looks up in `of` and expects to be there. */
export function readNamedNodes(program: Program, paths: Paths, of: "tasks" | "outputs"): LookedUpNode[] {
  const asksBefore = program.nodes.some(
    (node) => node.kind === "binary" && node.right.kind === "name" && node.right.id === of,
  );
  if (asksBefore) return [];
  return program.nodes.flatMap((node) => {
    if (node.kind !== "subscript" || node.stores || node.object.kind !== "name" || node.object.id !== of) return [];
    const isGiven = program.reaching(node.object).every(({ origin }) => origin.kind === "given");
    const id = isGiven && !expectsKeyError(program, node) ? paths.key(node.index) : undefined;
    return id === undefined || id === "[]" ? [] : [{ id, at: node.index.from }];
  });
}
