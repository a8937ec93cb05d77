import { invalid } from "../errors.ts";
import type { AttributeType } from "../values/attribute-value.ts";
import { bindOperand, staticType } from "./bind-operand.ts";
import { checkDistinctPaths } from "./paths.ts";
import type { Placeholders } from "./placeholders.ts";
import type { Operand, Update } from "./syntax.ts";

/** Replaces the placeholders, and refuses what can be known to be wrong before any item is looked at. */
export function bindUpdates(updates: Update[], placeholders: Placeholders): Update[] {
  const bound = updates.map((update) => bindUpdate(update, placeholders));
  checkDistinctPaths(bound.map(({ path }) => path));
  return bound;
}

function bindUpdate(update: Update, placeholders: Placeholders): Update {
  const path = placeholders.path(update.path);
  if (update.kind === "remove") return { kind: "remove", path };
  const value = bindOperand(update.value, placeholders);
  if (update.kind === "add") expectAmount("ADD", value, ["N", "SS", "NS", "BS"]);
  if (update.kind === "delete") expectAmount("DELETE", value, ["SS", "NS", "BS"]);
  return { ...update, path, value };
}

/** As these two sections call the types. */
const longNames: Partial<Record<AttributeType, string>> = {
  S: "STRING",
  N: "NUMBER",
  B: "BINARY",
  NULL: "NULL",
  BOOL: "BOOLEAN",
  L: "LIST",
  M: "MAP",
};

function expectAmount(operator: string, operand: Operand, types: readonly AttributeType[]): void {
  const type = staticType(operand);
  if (type === undefined || types.includes(type)) return;
  const what = `operator: ${operator}, operand type: ${longNames[type]}`;
  throw invalid(`Incorrect operand type for operator or function; ${what}`);
}
