import { invalid } from "../errors.ts";
import type { FunctionCall, Operand, Path } from "./syntax.ts";
import type { Tokens } from "./tokens.ts";

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
