import type { Callable, Program } from "../scope/program.ts";
import type { Expression } from "../tree/nodes.ts";

/** The list whose every item a lambda gets: `min(rows, key=lambda row: ...)`, `rows.sort(key=...)`. */
export function keyedBy(program: Program, lambda: Callable): Expression | undefined {
  const { parent } = lambda;
  if (lambda.kind !== "lambda" || lambda.params.length !== 1 || parent?.kind !== "argument" || parent.name !== "key")
    return undefined;
  const call = parent.parent;
  if (call?.kind !== "call") return undefined;
  const { callee, args } = call;
  if (callee.kind === "attribute" && callee.name === "sort") return callee.object;
  const [first, second] = args.filter(({ name }) => name === null);
  const isOne = first && !second && first.stars === 0;
  return isOne && /^builtins\.(min|max|sorted)$/.test(program.importPath(callee) ?? "") ? first.value : undefined;
}
