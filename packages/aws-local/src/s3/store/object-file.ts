import { type FileHandle, link, mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { ChecksumAlgorithm } from "../body/receive.ts";
import { S3Error } from "../errors.ts";

/** The facts about an object, without its bytes. */
export interface ObjectInfo {
  key: string;
  bytes: number;
  /** The ETag without its quotes. */
  etag: string;
  /** Milliseconds since the epoch. */
  modifiedMs: number;
  /** Headers that a get returns as they were: content type, encoding, `x-amz-meta-*` ... */
  headers: Record<string, string>;
  /** The checksums in base64, as S3 writes them. */
  checksums: Partial<Record<ChecksumAlgorithm, string>>;
}

/** Thrown for a file in the data folder that is not an object file. */
export class ObjectFileDamaged extends Error {
  override name = "ObjectFileDamaged";
}

/**
 * The last bytes of every object file. One file has the bytes of an object, its info as JSON, the length of that JSON,
 * and this mark. So one rename replaces bytes and info together, and a reader that has the old file open still gets the
 * old object.
 */
const mark = Buffer.from("S3o1");
const endBytes = mark.length + 4;

/** Returns the end of an object file: everything after the bytes of the object. */
function objectTail(info: ObjectInfo): Buffer {
  const json = Buffer.from(JSON.stringify(info));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length, mark]);
}

export interface OpenObject extends AsyncDisposable {
  file: FileHandle;
  info: ObjectInfo;
}

/** Opens an object file and reads its info. Resolves with undefined if there is no such file. */
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

export type Write = (chunk: Buffer) => Promise<void>;

/** Writes a new object file: the bytes that `fill` writes, then the info that it returns. */
export async function writeObject(path: string, fill: (write: Write) => Promise<ObjectInfo>): Promise<ObjectInfo> {
  await using file = await open(path, "wx");
  const info = await fill((chunk) => file.writeFile(chunk));
  await file.writeFile(objectTail(info));
  return info;
}

export function preconditionFailed(): S3Error {
  return new S3Error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold");
}

/**
 * The largest number of attempts to place an object. Each attempt first creates the folder of the object. The attempt
 * fails if another request deletes this folder before the object is in the folder.
 */
const maxTries = 100;

/**
 * Makes the object file at `path` visible at `target` in one step. With `isFirst` it creates a link, which fails if
 * `target` exists. Without `isFirst` it renames the file, which replaces `target`.
 */
export async function placeObject(path: string, target: string, isFirst: boolean): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await mkdir(dirname(target), { recursive: true });
      return await (isFirst ? link(path, target) : rename(path, target));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") throw preconditionFailed();
      // Node reports ENOTDIR if a folder is deleted while `mkdir` looks at it.
      if ((code !== "ENOENT" && code !== "ENOTDIR") || tries === maxTries) throw error;
    }
  }
}
