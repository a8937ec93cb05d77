import { open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Eraser } from "@nova/service";

/** The head of a mail that NOVA sends is far shorter than this. */
const headBytes = 16 * 1024;

/** Wraps an eraser: it also removes the mails in the folder about an erased run or client. */
export function addMailErasure(eraser: Eraser, folder: string): Eraser {
  return {
    contents: (at) => eraser.contents(at),
    blobs: (home) => eraser.blobs(home),
    rest: (client, cursor) => eraser.rest(client, cursor),
    async traces(execution) {
      await eraser.traces(execution);
      await removeMails(folder, "x-nova-execution", execution);
    },
    async objects(client) {
      await eraser.objects(client);
      await removeMails(folder, "x-nova-client", client);
    },
  };
}

async function removeMails(folder: string, header: string, value: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return [];
  });
  const line = new RegExp(`^${header}: ${value}\\r?$`, "im");
  // Several executions are erased at the same time: another erasure may have removed the mail already.
  const unlessGone = (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  };
  for (const name of names.filter((one) => one.endsWith(".eml"))) {
    const path = join(folder, name);
    if (line.test(await headOf(path).catch(unlessGone))) await rm(path, { force: true });
  }
}

async function headOf(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  return buffer.toString("latin1", 0, bytesRead).split(/\r?\n\r?\n/, 1)[0] ?? "";
}
