import { hash } from "node:crypto";
import { type AccessKey, algorithm, Signatures } from "../../../packages/aws-local/src/access/signature.ts";

export interface Signing {
  /** The time of the signature, in milliseconds since the epoch. */
  atMs?: number;
  /** Headers that are sent without being signed. */
  leftOut?: readonly string[];
  /** The path as it is sent, if it differs from its normal form. */
  path?: string;
  /** The day in the scope of the signature, if it is not the day of `atMs`. */
  day?: string;
}

/** Returns the headers of a signed request, so that a test can send a request that no SDK would send. */
export function signedHeaders(
  service: string,
  key: AccessKey,
  url: string,
  { method = "GET", body, headers }: RequestInit,
  { atMs = Date.now(), leftOut = [], path, day }: Signing = {},
): Record<string, string> {
  const { pathname, searchParams, host } = new URL(url);
  const time = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const sent: Record<string, string> = {
    host,
    "x-amz-date": time,
    ...(service === "s3" && { "x-amz-content-sha256": "UNSIGNED-PAYLOAD" }),
    ...(headers as Record<string, string>),
  };
  const payload = service === "s3" ? (sent["x-amz-content-sha256"] ?? "") : hash("sha256", String(body ?? ""));
  const signed = Object.keys(sent)
    .filter((name) => !leftOut.includes(name))
    .sort();
  const scope = `${day ?? time.slice(0, 8)}/us-east-1/${service}/aws4_request`;
  const asSigned = {
    method,
    path: path ?? pathname,
    query: [...searchParams],
    headers: sent,
    signed,
    time,
    scope,
    payload,
  };
  const signature = new Signatures(key.secretAccessKey).of(asSigned);
  const credential = `Credential=${key.accessKeyId}/${scope}`;
  const authorization = `${algorithm} ${credential}, SignedHeaders=${signed.join(";")}, Signature=${signature}`;
  const { host: _, ...others } = sent; // `fetch` itself adds the header `host`.
  return { ...others, authorization };
}

export function signedFetch(service: string, key: AccessKey, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: signedHeaders(service, key, url, init) });
}
