import { invalid } from "../errors.ts";
import type { Input } from "./input.ts";

const namePattern = "[a-zA-Z0-9_.-]+";

export function tableName(input: Input): string {
  const name = input.text("TableName");
  if (name.length < 3 || name.length > 255) {
    throw invalid("TableName must be at least 3 characters long and at most 255 characters long");
  }
  return input.text("TableName", { pattern: namePattern });
}

export function checkTableName(name: string): void {
  if (name.length >= 3 && name.length <= 255 && /^[a-zA-Z0-9_.-]+$/.test(name)) return;
  throw invalid("TableName must be at least 3 characters long and at most 255 characters long");
}

export const indexNameLimits = { least: 3, most: 255, pattern: namePattern };

/** DynamoDB's limit of an item, names and values together. */
export const largestItemBytes = 400 * 1024;
