import { open } from "node:fs/promises";

/** Lines of a file that may be large, as many at a time. Only "\n" ends one: JSON may hold all that Unicode calls so. */
export async function eachLine(path: string, atOnce: number, work: (line: string) => Promise<void>): Promise<void> {
  await using file = await open(path);
  const part: string[] = [];
  for await (const line of linesOf(file.createReadStream({ encoding: "utf8" }))) {
    if (line !== "") part.push(line);
    if (part.length === atOnce) await Promise.all(part.splice(0).map(work));
  }
  await Promise.all(part.map(work));
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() as string;
    yield* lines;
  }
  yield rest;
}
