import { invalid } from "../errors.ts";
import type { Comparator, Condition, FunctionCall, Operand, Path, Update } from "./syntax.ts";
import { Tokens } from "./tokens.ts";

const arities = {
  attribute_exists: 1,
  attribute_not_exists: 1,
  attribute_type: 2,
  begins_with: 2,
  contains: 2,
  size: 1,
};
const comparators: readonly string[] = ["=", "<>", "<", "<=", ">", ">="] satisfies Comparator[];

/** DynamoDB's limit of operands of IN. */
const mostOptions = 100;

/** NOT binds closer than AND, AND closer than OR. */
export function parseCondition(text: string): Condition {
  const tokens = new Tokens(text);
  const condition = parseOr(tokens);
  tokens.expectEnd();
  return condition;
}

function parseOr(tokens: Tokens): Condition {
  let left = parseAnd(tokens);
  while (tokens.takesWord("OR")) left = { kind: "or", left, right: parseAnd(tokens) };
  return left;
}

function parseAnd(tokens: Tokens): Condition {
  let left = parseNot(tokens);
  while (tokens.takesWord("AND")) left = { kind: "and", left, right: parseNot(tokens) };
  return left;
}

function parseNot(tokens: Tokens): Condition {
  if (tokens.takesWord("NOT")) return { kind: "not", condition: parseNot(tokens) };
  return tokens.takesSign("(") ? parseRest(tokens) : parseTest(tokens);
}

/** What stood in parentheses as a whole: another pair around it would say nothing. */
const groups = new WeakSet<Condition>();

/** Behind an opening parenthesis. */
function parseRest(tokens: Tokens): Condition {
  const condition = parseOr(tokens);
  tokens.expectSign(")");
  if (groups.has(condition)) throw invalid("The expression has redundant parentheses;");
  groups.add(condition);
  return condition;
}

function parseTest(tokens: Tokens): Condition {
  if (tokens.isCall() && tokens.next.text !== "size") {
    const call = parseCall(tokens, arities);
    for (const arg of call.args) refuseBoolean(arg);
    if (tokens.next.kind === "sign" && comparators.includes(tokens.next.text)) throw misused(call.name);
    return call;
  }
  return parseComparison(tokens, parseTerm(tokens));
}

function parseComparison(tokens: Tokens, left: Operand): Condition {
  if (tokens.next.kind === "sign" && comparators.includes(tokens.next.text)) {
    const operator = tokens.take().text as Comparator;
    return { kind: "compare", operator, left, right: parseTerm(tokens) };
  }
  if (tokens.takesWord("BETWEEN")) {
    const low = parseTerm(tokens);
    if (!tokens.takesWord("AND")) throw tokens.wrong();
    return { kind: "between", value: left, low, high: parseTerm(tokens) };
  }
  if (tokens.takesWord("IN")) return { kind: "in", value: left, options: parseOptions(tokens) };
  if (left.kind === "function") throw misused(left.name);
  throw tokens.wrong();
}

function parseOptions(tokens: Tokens): Operand[] {
  tokens.expectSign("(");
  const options = parseList(tokens, () => parseTerm(tokens));
  tokens.expectSign(")");
  if (options.length <= mostOptions) return options;
  const what = `operator or function: IN, number of operands: ${options.length + 1}`;
  throw invalid(`Incorrect number of operands for operator or function; ${what}`);
}

/** An operand of a comparison; of the functions only `size` is one. */
function parseTerm(tokens: Tokens): Operand {
  const operand = parseOperand(tokens, arities);
  refuseBoolean(operand);
  return operand;
}

function refuseBoolean(operand: Operand): void {
  if (operand.kind === "function" && operand.name !== "size") throw misused(operand.name);
}

function misused(name: string): Error {
  return invalid(`The function is not allowed to be used this way in an expression; function: ${name}`);
}

/** DynamoDB also has `if_not_exists`, `list_append` and sums, which the product has no use for. */
const noFunctions = {};

type Section = "SET" | "REMOVE" | "ADD" | "DELETE";

const parseUpdateOf: Record<Section, (tokens: Tokens) => Update> = {
  SET(tokens) {
    const path = parsePath(tokens);
    tokens.expectSign("=");
    return { kind: "set", path, value: parseOperand(tokens, noFunctions) };
  },
  REMOVE: (tokens) => ({ kind: "remove", path: parsePath(tokens) }),
  ADD: (tokens) => ({ kind: "add", path: parsePath(tokens), value: parseValue(tokens) }),
  DELETE: (tokens) => ({ kind: "delete", path: parsePath(tokens), value: parseValue(tokens) }),
};

/** Each section at most once, in any order. */
export function parseUpdate(text: string): Update[] {
  const tokens = new Tokens(text);
  const updates: Update[] = [];
  const seen = new Set<Section>();
  do {
    const section = (Object.keys(parseUpdateOf) as Section[]).find((word) => tokens.takesWord(word));
    if (!section) throw tokens.wrong();
    if (seen.has(section)) {
      throw invalid(`The "${section}" section can only be used once in an update expression;`);
    }
    seen.add(section);
    updates.push(...parseList(tokens, () => parseUpdateOf[section](tokens)));
  } while (tokens.next.kind !== "end");
  return updates;
}

/** ADD and DELETE take a value and nothing else. */
function parseValue(tokens: Tokens): Operand {
  const operand = tokens.next.text.startsWith(":") ? parseOperand(tokens, noFunctions) : undefined;
  if (!operand) throw tokens.wrong();
  return operand;
}

export function parseProjection(text: string): Path[] {
  const tokens = new Tokens(text);
  const paths = parseList(tokens, () => parsePath(tokens));
  tokens.expectEnd();
  return paths;
}

export function parsePath(tokens: Tokens): Path {
  const path: (string | number)[] = [tokens.takeName()];
  while (true) {
    if (tokens.takesSign(".")) path.push(tokens.takeName());
    else if (tokens.takesSign("[")) path.push(parsePosition(tokens));
    else return path;
  }
}

function parsePosition(tokens: Tokens): number {
  if (tokens.next.kind !== "number") throw tokens.wrong();
  const position = Number(tokens.take().text);
  tokens.expectSign("]");
  return position;
}

/** `arities` are the functions that may stand here, and how many operands each has. */
export function parseOperand(tokens: Tokens, arities: Record<string, number>): Operand {
  if (tokens.isCall()) return parseCall(tokens, arities);
  const { kind, text } = tokens.next;
  if (kind !== "placeholder" || !text.startsWith(":")) return { kind: "path", path: parsePath(tokens) };
  return { kind: "placeholder", name: tokens.take().text };
}

export function parseCall(tokens: Tokens, arities: Record<string, number>): FunctionCall {
  const name = tokens.take().text;
  if (!Object.hasOwn(arities, name)) throw invalid(`Invalid function name; function: ${name}`);
  tokens.expectSign("(");
  const args = parseList(tokens, () => parseOperand(tokens, arities));
  tokens.expectSign(")");
  if (args.length === arities[name]) return { kind: "function", name, args };
  const what = `operator or function: ${name}, number of operands: ${args.length}`;
  throw invalid(`Incorrect number of operands for operator or function; ${what}`);
}

export function parseList<T>(tokens: Tokens, parse: () => T): T[] {
  const list = [parse()];
  while (tokens.takesSign(",")) list.push(parse());
  return list;
}
