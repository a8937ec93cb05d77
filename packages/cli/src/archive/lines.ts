import { open } from "node:fs/promises";

/** Lines of a file that may be large, as many at a time. */
export async function eachLine(path: string, atOnce: number, work: (line: string) => Promise<void>): Promise<void> {
  await using file = await open(path);
  const part: string[] = [];
  for await (const line of file.readLines()) {
    if (line !== "") part.push(line);
    if (part.length === atOnce) await Promise.all(part.splice(0).map(work));
  }
  await Promise.all(part.map(work));
}
