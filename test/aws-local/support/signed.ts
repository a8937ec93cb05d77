import { hash } from "node:crypto";
import { type AccessKey, algorithm, Signatures } from "../../../packages/aws-local/src/access/signature.ts";

export interface Signing {
  /** Milliseconds. */
  atMs?: number;
  /** Headers that are sent and not vouched for. */
  leftOut?: readonly string[];
  /** As it is sent, where that is not what is normal. */
  path?: string;
  /** Day of the scope, where it is not that of the time. */
  day?: string;
}

/** What a client sends that signs its headers by itself, for requests that no SDK would make. */
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
    ...{ host, "x-amz-date": time },
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
  const { host: _, ...others } = sent; // fetch sends it by itself
  return { ...others, authorization };
}

export function signedFetch(service: string, key: AccessKey, url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: signedHeaders(service, key, url, init) });
}
