import { parseList, parsePath } from "./parse-operand.ts";
import type { Path } from "./syntax.ts";
import { Tokens } from "./tokens.ts";

export function parseProjection(text: string): Path[] {
  const tokens = new Tokens(text);
  const paths = parseList(tokens, () => parsePath(tokens));
  tokens.expectEnd();
  return paths;
}
