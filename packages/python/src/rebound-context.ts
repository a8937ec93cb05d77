import type { PythonProblem } from "./check-python.ts";
import { namesIn } from "./findings/guards.ts";
import { Lines } from "./lines.ts";
import type { Binding } from "./scope/bindings.ts";
import { Program } from "./scope/program.ts";
import { ancestors, type Node, walk } from "./tree/nodes.ts";

const cure = "write context.update({...}), or context.clear() and then context.update({...}) to start from nothing";

/**
 * Finds code that binds the name `context` to another object. NOVA keeps only the changes of the dict that it provides,
 * so the changes of the other object are lost. The sandbox warns about this too.
 */
export function findReboundContext(source: string): PythonProblem | undefined {
  const program = Program.read(source);
  return program ? findRebound(program) : undefined;
}

export function findRebound(program: Program): PythonProblem | undefined {
  const lines = new Lines(program.source);
  const found = rebindings(program).filter(({ from }) => !lines.isSilenced(lines.placeOf(from).line, "PY122"));
  const shown = found.find(makesDict) ?? found[0];
  if (!shown) return undefined;
  const advice = makesDict(shown) ? cure : "use another name for it";
  const message = `context becomes another object here, which is not kept - ${advice}`;
  return { kind: "rebound", message, ...lines.placeOf(shown.from) };
}

/** Bindings of the module's own `context`, except those that only run if it is undefined. */
function rebindings(program: Program): Binding[] {
  return program
    .lookup("context", program.tree)
    .filter(({ origin, node }) => !/^(provided|augment|declared)$/.test(origin.kind) && !isStandIn(node));
}

/** `except NameError: context = {...}` and `if "context" not in globals(): ...` serve runs outside NOVA. */
function isStandIn(node: Node): boolean {
  return Array.from(ancestors(node)).some((ancestor) => {
    if (ancestor.kind === "handler") {
      return ancestor.types !== null && namesIn(ancestor.types).includes("NameError");
    }
    const tests = ancestor.kind === "if" ? ancestor.branches : ancestor.kind === "while" ? [ancestor] : [];
    return tests.some(({ test }) =>
      Array.from(walk(test)).some((part) => part.kind === "text" && part.value === "context"),
    );
  });
}

/** Whether the bound value is a dict that the code makes. */
function makesDict({ origin }: Binding): boolean {
  if (origin.kind !== "value") return false;
  const { value } = origin;
  if (value.kind === "binary") return value.op === "|";
  if (value.kind === "call") return value.callee.kind === "name" && value.callee.id === "dict";
  return value.kind === "dict" || (value.kind === "comprehension" && value.form === "dict");
}
