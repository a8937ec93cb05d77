import { invalid } from "../errors.ts";
import { parseCall, parseList, parseOperand } from "./parse-operand.ts";
import type { Comparator, Condition, Operand } from "./syntax.ts";
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
