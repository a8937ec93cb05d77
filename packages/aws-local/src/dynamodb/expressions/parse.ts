import { invalid } from "../errors.ts";
import { contentOf, orderOf, typeOf } from "../values/attribute-value.ts";
import { type Comparator, type Condition, checkDistinctPaths, type Operand, type Path, type Update } from "./syntax.ts";
import type { Tokens } from "./tokens.ts";

const comparators: readonly string[] = ["=", "<>", "<", "<=", ">", ">="] satisfies Comparator[];

/** Parses a condition. AND binds more tightly than OR. Refuses NOT, IN and `contains`, which DynamoDB has. */
export function parseCondition(tokens: Tokens): Condition {
  let left = parseAnd(tokens);
  while (tokens.takesWord("OR")) left = { kind: "or", left, right: parseAnd(tokens) };
  return left;
}

function parseAnd(tokens: Tokens): Condition {
  let left = parseGroup(tokens);
  while (tokens.takesWord("AND")) left = { kind: "and", left, right: parseGroup(tokens) };
  return left;
}

function parseGroup(tokens: Tokens): Condition {
  if (!tokens.takesSign("(")) return parseTest(tokens);
  const condition = parseCondition(tokens);
  tokens.expectSign(")");
  return condition;
}

function parseTest(tokens: Tokens): Condition {
  if (!tokens.isCall()) return parseComparison(tokens, parseOperand(tokens));
  const name = tokens.take().text;
  switch (name) {
    case "attribute_exists":
      return { kind: "exists", path: onlyPath(name, parseOperands(tokens)) };
    case "attribute_not_exists":
      return { kind: "absent", path: onlyPath(name, parseOperands(tokens)) };
    case "begins_with": {
      const [value, part, ...more] = parseOperands(tokens);
      if (!value || !part || more.length > 0) throw wrongNumber(name);
      expectType(`operator or function: ${name}`, [value, part], ["S"]);
      return { kind: name, value, part };
    }
  }
  throw invalid(`Invalid function name; function: ${name}`);
}

function parseComparison(tokens: Tokens, value: Operand): Condition {
  if (tokens.next.kind === "sign" && comparators.includes(tokens.next.text)) {
    const operator = tokens.take().text as Comparator;
    const right = parseOperand(tokens);
    if (operator !== "=" && operator !== "<>") expectType(`operator: ${operator}`, [value, right], ["S", "N"]);
    return { kind: "compare", operator, left: value, right };
  }
  if (tokens.takesWord("BETWEEN")) {
    const low = parseOperand(tokens);
    if (!tokens.takesWord("AND")) throw tokens.wrong();
    const high = parseOperand(tokens);
    expectType("operator: BETWEEN", [value, low, high], ["S", "N"]);
    checkBounds(low, high);
    return { kind: "between", value, low, high };
  }
  throw tokens.wrong();
}

function checkBounds(low: Operand, high: Operand): void {
  if (low.kind !== "value" || high.kind !== "value") return;
  const order = orderOf(low.value, high.value);
  if (order !== undefined && order <= 0) return;
  const what =
    order === undefined
      ? "same data type for lower and upper bounds"
      : "upper bound to be greater than or equal to lower bound";
  const [lower, upper] = [low, high].map(({ value }) => `AttributeValue: {${typeOf(value)}:${contentOf(value)}}`);
  const operands = `lower bound operand: ${lower}, upper bound operand: ${upper}`;
  throw invalid(`The BETWEEN operator requires ${what}; ${operands}`);
}

/**
 * Refuses a literal value whose type is not in `types`. Does not check a path, because the type of its value is known
 * only when an item is read.
 */
function expectType(what: string, operands: Operand[], types: readonly string[]): void {
  for (const operand of operands) {
    const type = operand.kind === "value" ? typeOf(operand.value) : undefined;
    if (type === undefined || types.includes(type)) continue;
    throw invalid(`Incorrect operand type for operator or function; ${what}, operand type: ${type}`);
  }
}

function parseOperand(tokens: Tokens): Operand {
  if (!tokens.isCall()) return tokens.takeValue() ?? { kind: "path", path: parsePath(tokens) };
  throw invalid(`Invalid function name; function: ${tokens.next.text}`);
}

function parseOperands(tokens: Tokens): Operand[] {
  tokens.expectSign("(");
  const operands = parseList(tokens, parseOperand);
  tokens.expectSign(")");
  return operands;
}

function onlyPath(name: string, [operand, ...more]: Operand[]): Path {
  if (more.length > 0) throw wrongNumber(name);
  if (operand?.kind === "path") return operand.path;
  throw invalid(`Operator or function requires a document path; operator or function: ${name}`);
}

function wrongNumber(name: string): Error {
  return invalid(`Incorrect number of operands for operator or function; operator or function: ${name}`);
}

type Section = "SET" | "REMOVE" | "ADD";

/** Parsers of the update sections. DynamoDB's `if_not_exists`, `list_append`, sums and sets are not served. */
const parseUpdateOf: Record<Section, (tokens: Tokens) => Update> = {
  SET(tokens) {
    const path = parsePath(tokens);
    tokens.expectSign("=");
    return { kind: "set", path, value: parseOperand(tokens) };
  },
  REMOVE: (tokens) => ({ kind: "remove", path: parsePath(tokens) }),
  ADD(tokens) {
    const path = parsePath(tokens);
    const { value } = tokens.takeValue() ?? {};
    if (!value) throw tokens.wrong();
    if ("N" in value) return { kind: "add", path, amount: value.N };
    const what = `operator: ADD, operand type: ${typeOf(value)}`;
    throw invalid(`Incorrect operand type for operator or function; ${what}`);
  },
};

/** Parses an update expression. The sections SET, REMOVE and ADD may each occur once, in any order. */
export function parseUpdate(tokens: Tokens): Update[] {
  const updates: Update[] = [];
  const seen = new Set<Section>();
  do {
    const section = (Object.keys(parseUpdateOf) as Section[]).find((word) => tokens.takesWord(word));
    if (!section) throw tokens.wrong();
    if (seen.has(section)) throw invalid(`The "${section}" section can only be used once in an update expression;`);
    seen.add(section);
    updates.push(...parseList(tokens, parseUpdateOf[section]));
  } while (tokens.next.kind !== "end");
  checkDistinctPaths(updates.map(({ path }) => path));
  return updates;
}

export function parseProjection(tokens: Tokens): Path[] {
  const paths = parseList(tokens, parsePath);
  checkDistinctPaths(paths);
  return paths;
}

function parsePath(tokens: Tokens): Path {
  const path = [tokens.takeName()];
  while (tokens.takesSign(".")) path.push(tokens.takeName());
  if (tokens.next.text === "[")
    throw invalid("The local DynamoDB has no positions of lists - read or write the whole list");
  tokens.paths.push(path);
  return path;
}

function parseList<T>(tokens: Tokens, parse: (tokens: Tokens) => T): T[] {
  const list = [parse(tokens)];
  while (tokens.takesSign(",")) list.push(parse(tokens));
  return list;
}
