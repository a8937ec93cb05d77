import { randomUUID } from "node:crypto";
import { type FileHandle, link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ChecksumAlgorithm } from "../body/receive.ts";
import { S3Error } from "../errors.ts";

/** All that is known of an object besides its bytes. */
export interface ObjectInfo {
  key: string;
  bytes: number;
  /** Without quotes. */
  etag: string;
  /** Milliseconds since the epoch. */
  modifiedMs: number;
  /** Headers that come back as they were given: content type, encoding, `x-amz-meta-*` ... */
  headers: Record<string, string>;
  /** Base64, as S3 writes them. */
  checksums: Partial<Record<ChecksumAlgorithm, string>>;
}

/** A file below the data folder is not an object file. */
export class ObjectFileDamaged extends Error {
  override name = "ObjectFileDamaged";
}

/**
 * One file per object: its bytes, then its info as JSON, then the length of that JSON. So one rename replaces bytes and
 * info together, and whoever has the file open goes on reading the object that was there when he opened it.
 */
const mark = Buffer.from("S3o1");
const endBytes = mark.length + 4;

/** What is written behind the bytes. */
export function objectTail(info: ObjectInfo): Buffer {
  const json = Buffer.from(JSON.stringify(info));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, mark]);
}

export interface OpenObject extends AsyncDisposable {
  file: FileHandle;
  info: ObjectInfo;
}

/** Undefined when there is no such file. */
export async function openObject(path: string): Promise<OpenObject | undefined> {
  const file = await openIfThere(path);
  if (!file) return undefined;
  try {
    const info = await readInfo(file, path);
    return { file, info, [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

async function readInfo(file: FileHandle, path: string): Promise<ObjectInfo> {
  const { size } = await file.stat();
  const end = await readAt(file, size - endBytes, endBytes);
  if (!end.subarray(4).equals(mark)) throw new ObjectFileDamaged(`${path} is not an object file - delete it`);
  const length = end.readUInt32BE();
  return JSON.parse((await readAt(file, size - endBytes - length, length)).toString());
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  if (position >= 0) await file.read(buffer, 0, bytes, position);
  return buffer;
}

/** An object that nobody sees yet. Disposing of it without `commit` leaves nothing behind. */
export class NewObject implements AsyncDisposable {
  readonly #path: string;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  static async create(temporaryDir: string): Promise<NewObject> {
    const path = join(temporaryDir, randomUUID());
    return new NewObject(path, await open(path, "wx"));
  }

  readonly write = async (chunk: Buffer): Promise<void> => {
    for (let written = 0; written < chunk.length; ) {
      written += (await this.#file.write(chunk, written)).bytesWritten;
    }
  };

  /** The object becomes visible at `target` in one step; of one that must be the first there, or nothing changes. */
  async commit(target: string, info: ObjectInfo, isFirst = false): Promise<void> {
    await this.write(objectTail(info));
    await this.#file.close();
    await place(this.#path, target, isFirst);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    await rm(this.#path, { force: true });
  }
}

export function preconditionFailed(): S3Error {
  return new S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
}

/** As often as somebody may delete the last object of the folder, and with it the folder, in between. */
const maxTries = 100;

/** A link fails where a file is already, whoever else is writing; a rename replaces it. */
async function place(path: string, target: string, once: boolean): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await mkdir(dirname(target), { recursive: true });
      return await (once ? link(path, target) : rename(path, target));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") throw preconditionFailed();
      if (code !== "ENOENT" || tries === maxTries) throw error;
    }
  }
}
