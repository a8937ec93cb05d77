import { type Block, type Expression, type FunctionStatement, type Node, walk } from "../tree/nodes.ts";
import { parsePython } from "../tree/parse.ts";
import type { Binding, Origin, Scopes } from "./scopes.ts";
import { reachedFunctions, reachingBindings, readScopes, runs } from "./scopes.ts";

/** The largest number of assignments from name to name (`step = main`, `run = step`) that are followed. */
const deepestAlias = 4;

/** Cache of the last program, because several checks read the same source one after the other. */
let lastRead: Program | undefined;

export type Call = Expression & { kind: "call" };
export type Callable = FunctionStatement | (Expression & { kind: "lambda" });

/** The parsed code of a node, with the lookups of names, calls and bindings that all checks use. */
export class Program {
  readonly source: string;
  readonly tree: Block;
  readonly nodes: readonly Node[];
  readonly #scopes: Scopes;
  readonly #reached: Set<Node>;
  /**
   * Returns the dotted path of an imported name or a builtin, such as `json.dumps` or `builtins.print`; undefined for
   * other expressions.
   */
  readonly importPath = once((expression: Expression) => this.#findImport(expression));
  /** Calls, by the name of the function that they call, or by `.name` for methods. */
  readonly #calls: ReadonlyMap<string | undefined, Call[]>;
  readonly #loads: ReadonlyMap<string | undefined, Node[]>;

  /** Parses a source. Null if it is too long or too deep, or if lezer's grammar cannot parse it. */
  static read(source: string): Program | null {
    if (source === lastRead?.source) return lastRead;
    const tree = parsePython(source);
    if (!tree) return null;
    lastRead = new Program(source, tree);
    return lastRead;
  }

  constructor(source: string, tree: Block) {
    this.source = source;
    this.tree = tree;
    this.nodes = Array.from(walk(tree));
    this.#scopes = readScopes(tree);
    this.#loads = Map.groupBy(this.nodes, (node) => (node.kind === "name" && !node.stores ? node.id : undefined));
    const calls = this.nodes.filter((node) => node.kind === "call");
    this.#calls = Map.groupBy(calls, ({ callee }) =>
      callee.kind === "name" ? callee.id : callee.kind === "attribute" ? `.${callee.name}` : undefined,
    );
    this.#reached = reachedFunctions(this);
  }

  /**
   * Returns the bindings that may have set the value of this name. Returns a single binding if it certainly ran last.
   */
  reaching(name: Node & { kind: "name" }): readonly Binding[] {
    return reachingBindings(name, this.lookup(name.id, name), this.#scopes.of.get(name));
  }

  lookup(id: string, at: Node): readonly Binding[] {
    const first = this.#scopes.of.get(at) ?? this.#scopes.module;
    for (let scope: typeof first | null = first; scope; scope = scope.parent) {
      if (scope.isClass && scope !== first) continue;
      const found =
        scope.elsewhere.get(id) === "global" ? this.#scopes.module.bindings.get(id) : scope.bindings.get(id);
      if (found) return found;
    }
    return [];
  }

  mayRun(node: Node): boolean {
    return runs(node, this.#reached);
  }

  #findImport(expression: Expression): string | undefined {
    if (expression.kind === "attribute") {
      const path = this.importPath(expression.object);
      return path === undefined || path.startsWith("builtins.") ? undefined : `${path}.${expression.name}`;
    }
    if (expression.kind !== "name") return undefined;
    const bindings = this.lookup(expression.id, expression);
    if (bindings.length === 0) return `builtins.${expression.id}`;
    const paths = new Set(bindings.map(({ origin }) => this.#originPath(origin, expression)));
    const [path] = paths;
    return paths.size === 1 ? path : undefined;
  }

  #originPath(origin: Origin, self: Expression): string | undefined {
    if (origin.kind === "import") return origin.path;
    const isAlias = origin.kind === "value" && /^(name|attribute)$/.test(origin.value.kind) && origin.value !== self;
    return isAlias ? this.importPath(origin.value) : undefined;
  }

  functionOf(expression: Expression, depth = 0): Callable | undefined {
    if (depth > deepestAlias) return undefined;
    if (expression.kind === "lambda") return expression;
    const origin = this.#onlyOrigin(expression);
    if (origin?.kind === "function") return origin.node;
    return origin?.kind === "value" ? this.functionOf(origin.value, depth + 1) : undefined;
  }

  classOf(expression: Expression): (Node & { kind: "class" }) | undefined {
    const origin = this.#onlyOrigin(expression);
    return origin?.kind === "class" ? origin.node : undefined;
  }

  /** Returns whether a name is `cls`, the first parameter of a class method. */
  isOwnClass(expression: Expression): boolean {
    if (expression.kind !== "name" || expression.id !== "cls") return false;
    const origin = this.#onlyOrigin(expression);
    if (origin?.kind !== "param" || origin.index !== 0 || origin.holder.kind !== "function") return false;
    return origin.holder.decorators.some((each) => each.kind === "name" && each.id === "classmethod");
  }

  #onlyOrigin(expression: Expression): Origin | undefined {
    const [only, ...others] = expression.kind === "name" ? this.lookup(expression.id, expression) : [];
    return others.length === 0 ? only?.origin : undefined;
  }

  callsOf(name: string): readonly Call[] {
    return this.#calls.get(name) ?? [];
  }

  loadsOf(name: string): readonly Node[] {
    return this.#loads.get(name) ?? [];
  }
}

/**
 * Caches the answers of `find`. The answer is undefined for a question that depends on itself or is nested too deep.
 */
export function once<Question, Answer>(
  find: (question: Question) => Answer | undefined,
  deepest = Number.POSITIVE_INFINITY,
): (question: Question) => Answer | undefined {
  const known = new Map<Question, Answer | undefined>();
  let depth = 0;
  return (question) => {
    if (known.has(question) || depth > deepest) return known.get(question);
    known.set(question, undefined);
    depth++;
    const answer = find(question);
    depth--;
    known.set(question, answer);
    return answer;
  };
}
