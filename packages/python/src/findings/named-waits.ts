import type { Paths } from "../flow/paths.ts";
import type { Program } from "../scope/program.ts";
import { expectsKeyError } from "./guards.ts";

/** A wait whose link the code reads: `tasks["wait_crm"]`. */
export interface NamedWait {
  id: string;
  at: number;
}

/** Those that the code cannot do without. */
export function readNamedWaits(program: Program, paths: Paths): NamedWait[] {
  return program.nodes.flatMap((node) => {
    if (node.kind !== "subscript" || node.stores || node.object.kind !== "name" || node.object.id !== "tasks")
      return [];
    const isGiven = program.reaching(node.object).every(({ origin }) => origin.kind === "given");
    const id = isGiven && !expectsKeyError(program, node) ? paths.key(node.index) : undefined;
    return id === undefined || id === "[]" ? [] : [{ id, at: node.index.from }];
  });
}
