import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "@nova/serve-local";
import { monotonicFactory } from "ulid";

const nextId = monotonicFactory();

/**
 * Keeps a mail as an .eml file. Its name sorts by arrival, and the file is complete as soon as it is visible. Returns
 * the name.
 */
export async function keepMail(dir: string, mail: Buffer): Promise<string> {
  const id = nextId();
  const path = join(dir, `${id}.eml`);
  await mkdir(dir, { recursive: true });
  writeWhole(path, mail);
  return id;
}
