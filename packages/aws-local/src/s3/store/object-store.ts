import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { S3Error } from "../errors.ts";
import { keyPath } from "./keys.ts";
import {
  type ObjectInfo,
  type OpenObject,
  openObject,
  placeObject,
  preconditionFailed,
  type Write,
  writeObject,
} from "./object-file.ts";

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** The longest key of S3, in bytes. */
const maxKey = 1024;

/** Buckets and objects as files. One process at a time may use the folder. */
export class ObjectStore {
  readonly #bucketsDir: string;
  readonly #temporaryDir: string;

  private constructor(dir: string) {
    this.#bucketsDir = join(dir, "buckets");
    this.#temporaryDir = join(dir, "unfinished");
  }

  /** Opens the store, and removes the incomplete files that a killed process has left. */
  static async open(dir: string, isWritten = true): Promise<ObjectStore> {
    const store = new ObjectStore(dir);
    if (!isWritten) return store;
    await rm(store.#temporaryDir, { recursive: true, force: true });
    for (const folder of [store.#bucketsDir, store.#temporaryDir]) await mkdir(folder, { recursive: true });
    return store;
  }

  async createBucket(bucket: string): Promise<void> {
    if (!bucketName.test(bucket)) throw new S3Error("InvalidBucketName", "The specified bucket is not valid.");
    try {
      await mkdir(join(this.#bucketsDir, bucket));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new S3Error("BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded.");
    }
  }

  async buckets(): Promise<{ name: string; createdMs: number }[]> {
    const names = (await readdir(this.#bucketsDir)).sort();
    return Promise.all(
      names.map(async (name) => ({ name, createdMs: (await stat(join(this.#bucketsDir, name))).birthtimeMs })),
    );
  }

  /** Returns the folder of a bucket. Throws if there is none. */
  async bucketDir(bucket: string): Promise<string> {
    const dir = join(this.#bucketsDir, bucket);
    const found = bucketName.test(bucket) && (await stat(dir).catch(() => undefined));
    if (!found) throw new S3Error("NoSuchBucket", "The specified bucket does not exist");
    return dir;
  }

  async find(bucket: string, key: string): Promise<OpenObject | undefined> {
    return openObject(await this.#pathOf(bucket, key));
  }

  async get(bucket: string, key: string): Promise<OpenObject> {
    const found = await this.find(bucket, key);
    if (!found) throw new S3Error("NoSuchKey", "The specified key does not exist.");
    return found;
  }

  /**
   * Stores an object. `fill` writes the bytes and returns the object's info. Readers see the object only after `fill`
   * has ended.
   */
  async put(
    bucket: string,
    key: string,
    isFirst: boolean,
    fill: (write: Write) => Promise<Omit<ObjectInfo, "key" | "modifiedMs">>,
  ): Promise<ObjectInfo> {
    const path = await this.#pathOf(bucket, key);
    if (isFirst) await this.#refuseIfThere(path);
    const draft = join(this.#temporaryDir, randomUUID());
    try {
      const info = await writeObject(draft, async (write) => ({ key, modifiedMs: Date.now(), ...(await fill(write)) }));
      await placeObject(draft, path, isFirst);
      return info;
    } finally {
      await rm(draft, { force: true });
    }
  }

  async delete(bucket: string, key: string): Promise<void> {
    const path = await this.#pathOf(bucket, key);
    await rm(path, { force: true });
    await removeEmptyFolders(dirname(path), await this.bucketDir(bucket));
  }

  /**
   * Throws if the object already exists. This check saves the client the upload of the body. If another writer creates
   * the object after the check, `placeObject` throws.
   */
  async #refuseIfThere(path: string): Promise<void> {
    await using current = await openObject(path);
    if (current) throw preconditionFailed();
  }

  async #pathOf(bucket: string, key: string): Promise<string> {
    if (Buffer.byteLength(key) > maxKey) throw new S3Error("KeyTooLongError", "Your key is too long");
    return join(await this.bucketDir(bucket), keyPath(key));
  }
}

/** Removes empty folders: `folder`, then its parents, until one is not empty. */
async function removeEmptyFolders(folder: string, bucketDir: string): Promise<void> {
  try {
    for (let dir = folder; dir.length > bucketDir.length; dir = dirname(dir)) await rmdir(dir);
  } catch {
    return;
  }
}
