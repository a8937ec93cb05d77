import { dictMethods } from "../known/methods.ts";
import type { Problem, Subject } from "./subject.ts";

/** PY113: `context.total`. */
export function contextAttributes({ program, paths }: Subject): Problem[] {
  return program.nodes.flatMap((node) => {
    if (node.kind !== "attribute" || !program.mayRun(node) || node.name.startsWith("__")) return [];
    if (dictMethods.has(node.name) || !paths.isContext(node.object)) return [];
    const message = `context is a dict and has no attribute "${node.name}" - write context["${node.name}"]`;
    return [{ code: "PY113" as const, at: node.from, message }];
  });
}
