import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { S3Error } from "../errors.ts";
import { type NewObject, type ObjectInfo, type OpenObject, openObject } from "./object-file.ts";
import type { ObjectStore } from "./object-store.ts";

/** What CreateMultipartUpload said. */
export interface Upload {
  bucket: string;
  key: string;
  headers: Record<string, string>;
}

export interface PartName {
  number: number;
  etag: string;
}

/** Smallest part of S3 but for the last one. */
const smallestPart = 5 * 1024 * 1024;

/** Uploads that wait for their parts: a folder each, parts as object files. They outlive the process. */
export class MultipartUploads {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  async create(upload: Upload): Promise<string> {
    await this.#store.bucketDir(upload.bucket);
    const id = randomUUID();
    try {
      await mkdir(this.#dirOf(id));
      await writeFile(join(this.#dirOf(id), "upload.json"), JSON.stringify(upload));
    } catch (error) {
      await this.abort(id);
      throw error;
    }
    return id;
  }

  /** The upload, if this is its bucket and key. */
  async find(id: string, bucket: string, key: string): Promise<Upload> {
    const text = /^[0-9a-f-]{36}$/.test(id) && (await readFile(join(this.#dirOf(id), "upload.json")).catch(() => null));
    const upload: Upload | undefined = text ? JSON.parse(text.toString()) : undefined;
    if (upload?.bucket === bucket && upload.key === key) return upload;
    throw new S3Error("NoSuchUpload", "The specified multipart upload does not exist.");
  }

  /** A part that comes again replaces the first one. */
  async putPart(
    id: string,
    number: number,
    fill: (write: NewObject["write"]) => Promise<Omit<ObjectInfo, "key" | "modifiedMs">>,
  ): Promise<ObjectInfo> {
    await using part = await this.#store.newObject();
    const info = { key: String(number), modifiedMs: Date.now(), ...(await fill(part.write)) };
    await part.commit(this.#partPath(id, number), info);
    return info;
  }

  async complete(id: string, upload: Upload, names: PartName[], isFirst: boolean): Promise<ObjectInfo> {
    await using stack = new AsyncDisposableStack();
    const parts: OpenObject[] = [];
    for (const name of names) parts.push(stack.use(await this.#openPart(id, name)));
    if (parts.slice(0, -1).some(({ info }) => info.bytes < smallestPart)) {
      throw new S3Error("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size");
    }
    const info = await this.#store.put(upload.bucket, upload.key, isFirst, async (write) => {
      for (const part of parts) await copyBytes(part, write);
      return wholeOf(upload, parts);
    });
    await this.abort(id);
    return info;
  }

  async abort(id: string): Promise<void> {
    await rm(this.#dirOf(id), { recursive: true, force: true });
  }

  async #openPart(id: string, { number, etag }: PartName): Promise<OpenObject> {
    const part = await openObject(this.#partPath(id, number));
    if (part?.info.etag === etag) return part;
    await part?.[Symbol.asyncDispose]();
    throw new S3Error("InvalidPart", `Part ${number} could not be found, or its entity tag differs.`);
  }

  #dirOf(id: string): string {
    return join(this.#store.uploadsDir, id);
  }

  #partPath(id: string, number: number): string {
    return join(this.#dirOf(id), `${number}$`);
  }
}

async function copyBytes({ file, info }: OpenObject, write: NewObject["write"]): Promise<void> {
  if (info.bytes === 0) return;
  for await (const chunk of file.createReadStream({ start: 0, end: info.bytes - 1, autoClose: false })) {
    await write(chunk);
  }
}

/** The ETag of a whole is the digest of its parts' digests, with their number; it has no checksum. */
function wholeOf({ headers }: Upload, parts: OpenObject[]): Omit<ObjectInfo, "key" | "modifiedMs"> {
  const etags = createHash("md5");
  for (const { info } of parts) etags.update(Buffer.from(info.etag, "hex"));
  const bytes = parts.reduce((sum, { info }) => sum + info.bytes, 0);
  return { bytes, etag: `${etags.digest("hex")}-${parts.length}`, headers, checksums: {} };
}
