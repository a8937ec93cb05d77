import type { IncomingMessage, ServerResponse } from "node:http";
import { S3Error } from "./errors.ts";
import type { ObjectStore } from "./store/object-store.ts";

/** Hears of an object that was put, before whoever put it does. */
export type OnCreated = (created: { bucket: string; key: string; bytes: number }) => void;

/** One request on its way through an operation. */
export interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  store: ObjectStore;
  /** Empty for ListBuckets. */
  bucket: string;
  /** Empty for operations on a bucket. */
  key: string;
  query: URLSearchParams;
  onCreated?: OnCreated | undefined;
}

export type Operation = (call: Call) => Promise<void>;

/** Path-style addresses: `/bucket/key`. The path is not normalised, since `..` and `//` are good parts of a key. */
export function addressOf(url: string): Pick<Call, "bucket" | "key" | "query"> {
  const [path = "", search = ""] = url.split(/\?(.*)/s);
  const [, bucket = "", key = ""] = /^\/([^/]*)\/?(.*)$/s.exec(decoded(path)) ?? [];
  return { bucket, key, query: new URLSearchParams(search) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new S3Error("InvalidURI", "Couldn't parse the specified URI.", { cause });
  }
}
