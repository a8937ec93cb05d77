import { randomUUID } from "node:crypto";
import { type FileHandle, link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { S3Error } from "../errors.ts";
import { type ObjectInfo, objectTail, openObject } from "./object-file.ts";

/** `If-None-Match: *` and `If-Match`. */
export interface WriteCondition {
  ifNoneMatch?: boolean;
  /** An ETag without quotes, or `*`. */
  ifMatch?: string;
}

/** An object that nobody sees yet. Disposing of it without `commit` leaves nothing behind. */
export class NewObject implements AsyncDisposable {
  private readonly path: string;
  private readonly file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.file = file;
  }

  static async create(temporaryDir: string): Promise<NewObject> {
    const path = join(temporaryDir, randomUUID());
    return new NewObject(path, await open(path, "wx"));
  }

  readonly write = async (chunk: Buffer): Promise<void> => {
    for (let written = 0; written < chunk.length; ) {
      written += (await this.file.write(chunk, written)).bytesWritten;
    }
  };

  /** The object becomes visible at `target` in one step, or the condition fails and nothing changes. */
  async commit(target: string, info: ObjectInfo, condition: WriteCondition = {}): Promise<void> {
    await this.write(objectTail(info));
    await this.file.close();
    if (condition.ifMatch !== undefined) await checkMatch(target, condition.ifMatch);
    await place(this.path, target, condition.ifNoneMatch ?? false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.file.close();
    await rm(this.path, { force: true });
  }
}

async function checkMatch(target: string, ifMatch: string): Promise<void> {
  await using current = await openObject(target);
  if (!current) throw new S3Error("NoSuchKey", "The specified key does not exist.");
  if (ifMatch !== "*" && ifMatch !== current.info.etag) throw preconditionFailed();
}

export function preconditionFailed(): S3Error {
  return new S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
}

/** As often as somebody may delete the last object of the folder, and with it the folder, in between. */
const mostTries = 100;

/** A link fails where a file is already, whoever else is writing; a rename replaces it. */
async function place(path: string, target: string, once: boolean): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await mkdir(dirname(target), { recursive: true });
      return await (once ? link(path, target) : rename(path, target));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") throw preconditionFailed();
      if (code !== "ENOENT" || tries === mostTries) throw error;
    }
  }
}
