import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { monotonicFactory } from "ulid";
import { writeWhole } from "../disk/whole-file.ts";

/** SES: the largest mail that it takes in. */
export const maxMailBytes = 40 * 1024 * 1024;

/** Undefined for one that is too large, which is read to its end all the same: before, nobody listens to an answer. */
export async function received(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks);
}

/** What a sender is told; the code says whether it is worth another try. */
export function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

export function tooLarge(maxBytes: number): Error {
  return refusal(552, `a mail may have ${maxBytes} bytes`);
}

const nextId = monotonicFactory();

/** Keeps a mail as an .eml file under a name that sorts by arrival, whole before it can be seen. Answers the name. */
export async function keepMail(dir: string, mail: Buffer): Promise<string> {
  const id = nextId();
  const path = join(dir, `${id}.eml`);
  await mkdir(dir, { recursive: true });
  writeWhole(path, mail);
  return id;
}
