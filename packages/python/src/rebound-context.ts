import type { PythonProblem } from "./check-python.ts";
import { actsUnseen } from "./flow/changes.ts";
import { readPrinted } from "./flow/printed.ts";
import { Lines } from "./lines.ts";
import type { Binding } from "./scope/bindings.ts";
import { Program } from "./scope/program.ts";
import { ancestors, type Expression, type Node, walk } from "./tree/nodes.ts";

const cure = "write context.update({...}), or context.clear() and then context.update({...}) to start from nothing";

/**
 * Where a node's code gives the name `context` to another object: what is set in that is not kept, since only changes of
 * the dict that the code was given are. Of kind `lost` only where it is certain that an answer is lost in this way.
 */
export function reboundContext(
  source: string,
  { fileName, lib = {} }: { fileName?: string; lib?: Record<string, string> } = {},
): PythonProblem | undefined {
  const program = Program.read(source);
  const rebound = program && findRebound(program, lib);
  return rebound ? { ...rebound, ...(fileName !== undefined && { file: fileName }) } : undefined;
}

/** The same of code that has been read. */
export function findRebound(program: Program, lib: Record<string, string> = {}): PythonProblem | undefined {
  const lines = new Lines(program.source);
  const found = rebindings(program).filter(({ from }) => !lines.isSilenced(lines.placeOf(from).line, "PY122"));
  const ownDict = found.find((binding) => isOwnDict(binding, program));
  const lost = ownDict && !isAnsweredElsewhere(program, lib) ? ownDict : undefined;
  const shown = lost ?? found[0];
  if (!shown) return undefined;
  const place = lines.placeOf(shown.from);
  if (lost) {
    const message = `context becomes another dict here, and what the code sets in that is lost - ${cure}`;
    return { kind: "lost", message, ...place };
  }
  const advice = makesDict(shown) ? cure : "use another name for it";
  return { kind: "rebound", message: `context becomes another object here, which is not kept - ${advice}`, ...place };
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
      return ancestor.types !== null && has(ancestor.types, (part) => part.kind === "name" && part.id === "NameError");
    }
    const tests = ancestor.kind === "if" ? ancestor.branches : ancestor.kind === "while" ? [ancestor] : [];
    return tests.some(({ test }) => has(test, (part) => part.kind === "text" && part.value === "context"));
  });
}

function has(expression: Expression, wanted: (part: Node) => boolean): boolean {
  return Array.from(walk(expression)).some(wanted);
}

function isAnsweredElsewhere(program: Program, lib: Record<string, string>): boolean {
  return (
    Object.values(lib).some((module) => unseen.test(module)) ||
    readPrinted(program).mayPrint ||
    program.nodes.some((node) => actsUnseen(program, node) || isStarImport(node)) ||
    program.loadsOf("context").some((use) => !isClosed(use))
  );
}

/** Words of a module of `lib/` that may print a result, or reach the context of the code that imports it. */
const unseen = /dump|\b(exec|eval|import_module|__import__|__main__|_getframe|inspect)\b/;

function isStarImport(node: Node): boolean {
  return node.kind === "import" && node.names.some(({ path }) => path === "*");
}

/** A use of `context` behind which its dict cannot have another name. */
function isClosed(use: Node): boolean {
  const { parent } = use;
  switch (parent?.kind) {
    case "subscript":
    case "attribute":
    case "for":
      return true;
    case "binary":
      return !/^(and|or)$/.test(parent.op);
    case "comprehension":
      return parent.element !== use && parent.key !== use;
    case "dict":
      return parent.entries.some(({ key, value }) => key === null && value === use);
    case "argument":
      return parent.name === null && parent.stars === 0 && isDictCall(parent.parent);
    default:
      return false;
  }
}

/** `context = {...}` among the statements of the module itself: always reached, and meant as the answer. */
function isOwnDict(binding: Binding, program: Program): boolean {
  const { parent } = binding.node;
  return parent?.kind === "assign" && parent.parent === program.tree && makesDict(binding);
}

/** Whether what the name is given here is a dict that the code makes. */
function makesDict({ origin }: Binding): boolean {
  if (origin.kind !== "value") return false;
  const { value } = origin;
  if (value.kind === "binary") return value.op === "|";
  return value.kind === "dict" || (value.kind === "comprehension" && value.form === "dict") || isDictCall(value);
}

function isDictCall(node: Node | null): boolean {
  return node?.kind === "call" && node.callee.kind === "name" && node.callee.id === "dict";
}
