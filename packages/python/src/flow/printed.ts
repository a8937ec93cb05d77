import { type Call, once, type Program } from "../scope/program.ts";
import type { Origin } from "../scope/scopes.ts";
import { ancestorPairs, type Expression, type Node } from "../tree/nodes.ts";

export interface Printed {
  /** Whether the code may print a JSON object on a line of its own. */
  mayPrint: boolean;
  /** The values that it may print; undefined if one is unknown. */
  values: Expression[] | undefined;
}

const makers = /^json\.(dumps?|encoder\..*)$/;

export function readDumps(program: Program): { call: Call; value: Expression | undefined }[] {
  return program.nodes.flatMap((node) => {
    if (node.kind !== "call" || !makers.test(program.importPath(node.callee) ?? "")) return [];
    const named =
      node.args.find(({ name }) => name === "obj") ?? node.args.find(({ name, stars }) => name === null && stars === 0);
    return [{ call: node, value: named?.value }];
  });
}

/** Finds the printed results. A text of `json.dumps` counts as printed unless it certainly goes elsewhere. */
export function readPrinted(program: Program): Printed {
  const uses = program.nodes.filter(
    (node) => (node.kind === "name" || node.kind === "attribute") && makers.test(program.importPath(node) ?? ""),
  );
  const all = readDumps(program);
  const isAll = all.length === uses.length && all.every(({ value }) => value);
  const dumps = all.filter(({ call, value }) => {
    return program.mayRun(call) && !goesElsewhere(program, call) && !(value && isNoObject(value));
  });
  const values = dumps.flatMap(({ value }) => value ?? []);
  return { mayPrint: !isAll || values.length > 0, values: isAll ? values : undefined };
}

/** Whether the JSON of the value is no object, or an empty one, which NOVA ignores. */
function isNoObject(value: Expression): boolean {
  if (value.kind === "dict") return value.entries.length === 0;
  if (value.kind === "comprehension") return value.form !== "dict";
  return /^(text|format|number|constant|list|tuple)$/.test(value.kind);
}

/** Whether the text goes into a file or a library's function, or follows other words on its line. */
function goesElsewhere(program: Program, dump: Call): boolean {
  if (program.importPath(dump.callee) === "json.dump") return isNoStdout(program, dump.args[1]?.value);
  for (const [parent, child] of ancestorPairs(dump)) {
    if (parent.kind === "format" && parent.parts.some((part) => part !== null && part.trim() !== "")) return true;
    if (parent.kind === "call" && parent.callee !== child) return isKeptFromOutput(program, parent, child);
  }
  return false;
}

function isKeptFromOutput(program: Program, call: Call, argument: Node): boolean {
  const path = program.importPath(call.callee) ?? "";
  if (path !== "builtins.print") return /^(requests|urllib|httpx|hashlib|hmac|base64|pathlib|logging)\./.test(path);
  const isBehindWords = call.args[0] !== argument && call.args[0]?.stars === 0;
  const [file, separator] = ["file", "sep"].map((wanted) => call.args.find(({ name }) => name === wanted));
  return (file !== undefined && isNoStdout(program, file.value)) || (isBehindWords && !separator);
}

function isNoStdout(program: Program, file: Expression | undefined): boolean {
  const root = file && rootOf(program, file);
  return root !== undefined && !/^sys\.(__)?stdout/.test(root);
}

const deepest = 12;

const roots = new WeakMap<Program, (expression: Expression) => string | undefined>();

/** `psycopg.connect` for the cursor of a connection; `literal` for a literal value; undefined if unknown. */
export function rootOf(program: Program, expression: Expression): string | undefined {
  const find = roots.get(program) ?? once((one: Expression) => findRoot(program, one), deepest);
  roots.set(program, find);
  return find(expression);
}

const literals = /^(text|format|bytes|number|list|dict|set|tuple|comprehension)$/;

function findRoot(program: Program, expression: Expression): string | undefined {
  const path = program.importPath(expression);
  if (path !== undefined) return path;
  if (literals.test(expression.kind)) return "literal";
  switch (expression.kind) {
    case "name":
      return rootOfName(program, expression);
    case "attribute":
    case "subscript":
      return rootOf(program, expression.object);
    case "call":
      return rootOf(program, expression.callee);
    case "await":
    case "walrus":
      return rootOf(program, expression.value);
    default:
      return undefined;
  }
}

function rootOfName(program: Program, name: Expression & { kind: "name" }): string | undefined {
  const roots = new Set(program.reaching(name).map(({ origin }) => rootOfOrigin(program, origin)));
  const [root] = roots;
  return roots.size === 1 ? root : undefined;
}

function rootOfOrigin(program: Program, origin: Origin): string | undefined {
  if (origin.kind === "value" || origin.kind === "with") return rootOf(program, origin.value);
  if (origin.kind === "item" || origin.kind === "part") return rootOf(program, origin.of);
  return origin.kind === "handler" ? "builtins.Exception" : undefined;
}
