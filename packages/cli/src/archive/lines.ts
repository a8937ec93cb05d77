import { basename, dirname } from "node:path";
import { openInside } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/** An item of DynamoDB has 400 KB, each byte of which is six characters of JSON at the most. */
const maxLineChars = 4 * 1024 * 1024;

/** Lines of a file that may be large, as many at a time. Only "\n" ends one: JSON may hold all that Unicode calls so. */
export async function eachLine(path: string, atOnce: number, work: (line: string) => Promise<void>): Promise<void> {
  await using file = await openInside(dirname(path), basename(path));
  if (!file) throw new InvalidInput(`"${path}" cannot be read - export again, or take another copy of the folder`);
  const part: string[] = [];
  for await (const line of linesOf(file.createReadStream({ encoding: "utf8" }), path)) {
    if (line !== "") part.push(line);
    if (part.length === atOnce) await Promise.all(part.splice(0).map(work));
  }
  await Promise.all(part.map(work));
}

async function* linesOf(chunks: AsyncIterable<string>, path: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() as string;
    yield* lines;
    if (rest.length > maxLineChars) {
      throw new InvalidInput(`"${path}" has a line that is longer than any item - take another copy of the folder`);
    }
  }
  yield rest;
}
