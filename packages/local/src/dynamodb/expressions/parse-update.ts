import { invalid } from "../errors.ts";
import { parseList, parseOperand, parsePath } from "./parse-operand.ts";
import type { Operand, Update } from "./syntax.ts";
import { Tokens } from "./tokens.ts";

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
