import { escapes } from "./branch-decision.ts";
import type { PythonProblem } from "./check-python.ts";
import { parseWithRuff } from "./ruff.ts";
import { ancestorsOf, nodesBelow, placesIn, readSyntaxTree, type SyntaxNode } from "./syntax-tree.ts";

const cure = "write context.update({...}), or context.clear() and then context.update({...}) to start from nothing";

/**
 * Where a node's code gives the name `context` to another object: what is set in that is not kept, since only changes of
 * the dict that the code was given are. Of kind `lost` only where it is certain that an answer is lost in this way. The
 * source is known to be valid.
 */
export async function reboundContext(
  source: string,
  { fileName, lib = {} }: { fileName?: string; lib?: Record<string, string> } = {},
): Promise<PythonProblem | undefined> {
  if (!mayRebind(source)) return undefined;
  const tree = readSyntaxTree(await parseWithRuff(source));
  const lines = source.split(/\r\n|\r|\n/);
  const placeOf = placesIn(source);
  const found = rebindings(tree)
    .map((node) => ({ node, ...placeOf(node) }))
    .filter(({ line }) => !/#\s*noqa(?!:)/i.test(lines[line - 1] ?? ""));
  const answersElsewhere = [source, ...Object.values(lib)].some((text) => escapes.test(text)) || isHandedOn(tree);
  const lost = answersElsewhere ? undefined : found.find(({ node }) => isOwnDict(node));
  const shown = lost ?? found[0];
  if (!shown) return undefined;
  const place = { ...(fileName !== undefined && { file: fileName }), line: shown.line, column: shown.column };
  if (lost) {
    const message = `context becomes another dict here, and what the code sets in that is lost - ${cure}`;
    return { kind: "lost", message, ...place };
  }
  const advice = makesDict(shown.node) ? cure : "use another name for it";
  return { kind: "rebound", message: `context becomes another object here, which is not kept - ${advice}`, ...place };
}

/** Most code says `context` only to look into it; then there is nothing to parse. */
function mayRebind(source: string): boolean {
  return /\bcontext\b/.test(source.replace(/\bcontext\s*[.[]/g, ""));
}

const scopes = new Set(["StmtFunctionDef", "StmtClassDef", "ExprLambda"]);
const comprehensions = new Set(["ExprListComp", "ExprSetComp", "ExprDictComp", "ExprGenerator"]);

/** Nodes that bind the module's own `context`, but for code that does so only where there is none. */
function rebindings(tree: SyntaxNode): SyntaxNode[] {
  const standIns = standInsIn(tree);
  const named = Array.from(nodesBelow(tree)).filter(isContext);
  const declared = new Set(named.filter(({ parent }) => parent?.type === "StmtGlobal").map(scopeOf));
  return named.filter((node) => {
    const scope = scopeOf(node);
    return (
      binds(node) &&
      (scope === null || declared.has(scope)) &&
      !Array.from(ancestorsOf(node)).some((ancestor) => standIns.has(ancestor))
    );
  });
}

function isContext({ values }: SyntaxNode): boolean {
  return values.id === 'Name("context")';
}

function binds({ type, field, values, parent }: SyntaxNode): boolean {
  if (parent === null) return false;
  // `context |= {...}` changes the dict in place; `context: dict` alone says something about it.
  const isLeft = parent.type === "StmtAugAssign" || (parent.type === "StmtAnnAssign" && parent.values.value === "None");
  if (type === "ExprName") return values.ctx === "Store" && !isLeft;
  if (parent.type === "Alias") return field === "asname" || parent.values.asname === "None";
  return /^(name|rest)$/.test(field) && /^(StmtFunctionDef|StmtClassDef|ExceptHandler|Pattern)/.test(parent.type);
}

/** The function, class or comprehension whose own names it belongs to; null for the module's. */
function scopeOf(node: SyntaxNode): SyntaxNode | null {
  const isTheirName = node.field === "name" && node.parent !== null && scopes.has(node.parent.type);
  for (const ancestor of ancestorsOf(isTheirName && node.parent ? node.parent : node)) {
    if (scopes.has(ancestor.type) || comprehensions.has(ancestor.type)) return ancestor;
  }
  return null;
}

/** `except NameError: context = {...}`, `if "context" not in globals(): ...`: statements for runs outside of NOVA. */
function standInsIn(tree: SyntaxNode): Set<SyntaxNode> {
  const found = new Set<SyntaxNode>();
  for (const node of nodesBelow(tree)) {
    const said = Object.values(node.values);
    if (said.includes('Name("NameError")')) addAround(node, "type_", found);
    if (said.includes('"context"')) addAround(node, "test", found);
  }
  return found;
}

/** The nodes around one, in whose field it lies. */
function addAround(node: SyntaxNode, field: string, found: Set<SyntaxNode>): void {
  for (let each = node; each.parent !== null; each = each.parent) if (each.field === field) found.add(each.parent);
}

/** Uses of `context` behind which its dict cannot have another name. */
const closedUses = /^(ExprSubscript|ExprAttribute|ExprCompare|ExprBinOp|Comprehension|StmtFor)$/;

/** Whether the dict may have another name, under which it gets what the code sets after all. */
function isHandedOn(tree: SyntaxNode): boolean {
  return Array.from(nodesBelow(tree)).some((node) => {
    if (!isContext(node) || node.values.ctx !== "Load" || node.parent === null) return false;
    const { parent } = node;
    const isCopied =
      (parent.type === "DictItem" && parent.values.key === "None") ||
      (parent.type === "Arguments" && parent.parent !== null && calls(parent.parent, "dict"));
    return !isCopied && !closedUses.test(parent.type);
  });
}

/** `context = {...}` among the statements of the module itself: always reached, and meant as the answer. */
function isOwnDict(node: SyntaxNode): boolean {
  return /^Stmt(Ann)?Assign$/.test(node.parent?.type ?? "") && isOnTop(node.parent) && makesDict(node);
}

function isOnTop(statement: SyntaxNode | null): boolean {
  return statement?.parent?.type === "ModModule";
}

/** Whether what the name is given here is a dict that the code makes. */
function makesDict(node: SyntaxNode): boolean {
  const value = node.parent?.children.find(({ field }) => field === "value");
  if (value?.type === "ExprBinOp") return value.values.op === "BitOr";
  return value !== undefined && (/^ExprDict(Comp)?$/.test(value.type) || calls(value, "dict"));
}

function calls({ type, children }: SyntaxNode, name: string): boolean {
  return (
    type === "ExprCall" && children.some(({ field, values }) => field === "func" && values.id === `Name("${name}")`)
  );
}
