import type { IncomingMessage, ServerResponse } from "node:http";
import { S3Error } from "./errors.ts";
import type { ObjectStore } from "./store/object-store.ts";

/** Called for each stored object before the client gets its response. */
export type OnCreated = (created: { bucket: string; key: string; bytes: number }) => void;

/** A request with the state that its operation needs. */
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

/**
 * Parses a path-style address, `/bucket/key`. It does not normalise the path: `..` and `//` are valid parts of a key.
 */
export function parseAddress(url: string): Pick<Call, "bucket" | "key" | "query"> {
  const [path = "", search = ""] = url.split(/\?(.*)/s);
  const [, bucket = "", key = ""] = /^\/([^/]*)\/?(.*)$/s.exec(decodePath(path)) ?? [];
  return { bucket, key, query: new URLSearchParams(search) };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw new S3Error("InvalidURI", "Couldn't parse the specified URI.", { cause });
  }
}
