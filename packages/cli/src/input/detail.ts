import { readFile } from "node:fs/promises";
import { InvalidInput } from "../errors.ts";

/** What there is to say of an event: the text of a JSON object, or `@file` with one in it. Throws `InvalidInput`. */
export async function readDetail(given: string): Promise<string> {
  const text = given.startsWith("@") ? await textOf(given.slice(1)) : given;
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return text;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new InvalidInput(`--detail ${given} is no JSON object - write --detail '{"key": "value"}'`);
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new InvalidInput(`--detail: "${path}" cannot be read (${(cause as Error).message}) - correct the path`, {
      cause,
    });
  }
}
