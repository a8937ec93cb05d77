import type { PythonProblem } from "./check-python.ts";
import { namesIn } from "./findings/guards.ts";
import { Lines } from "./lines.ts";
import type { Binding } from "./scope/bindings.ts";
import { Program } from "./scope/program.ts";
import { ancestors, type Node, walk } from "./tree/nodes.ts";

const cure = "write context.update({...}), or context.clear() and then context.update({...}) to start from nothing";

/**
 * Where a node's code gives the name `context` to another object: what is set in that is not kept, since only changes of
 * the dict that the code was given are. A run that loses its answer so says it, too.
 */
export function reboundContext(source: string): PythonProblem | undefined {
  const program = Program.read(source);
  return program ? findRebound(program) : undefined;
}

/** The same of code that has been read. */
export function findRebound(program: Program): PythonProblem | undefined {
  const lines = new Lines(program.source);
  const found = rebindings(program).filter(({ from }) => !lines.isSilenced(lines.placeOf(from).line, "PY122"));
  const shown = found.find(makesDict) ?? found[0];
  if (!shown) return undefined;
  const advice = makesDict(shown) ? cure : "use another name for it";
  const message = `context becomes another object here, which is not kept - ${advice}`;
  return { kind: "rebound", message, ...lines.placeOf(shown.from) };
}

/** What binds the module's own `context`, but for code that does so only where there is none. */
function rebindings(program: Program): Binding[] {
  return program
    .lookup("context", program.tree)
    .filter(({ origin, node }) => !/^(given|augment|declared)$/.test(origin.kind) && !isStandIn(node));
}

/** `except NameError: context = {...}`, `if "context" not in globals(): ...`: statements for runs outside of NOVA. */
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

/** Whether what the name is given here is a dict that the code makes. */
function makesDict({ origin }: Binding): boolean {
  if (origin.kind !== "value") return false;
  const { value } = origin;
  if (value.kind === "binary") return value.op === "|";
  if (value.kind === "call") return value.callee.kind === "name" && value.callee.id === "dict";
  return value.kind === "dict" || (value.kind === "comprehension" && value.form === "dict");
}
