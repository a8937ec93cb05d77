import { createHash } from "node:crypto";
import type { Signer } from "@nova/engine";
import type { ArchiveRecord } from "../ports/archive.ts";

/** What is sealed of an export. */
export interface Sealed {
  /** Null: everything is in it. */
  client: string | null;
  digest: string;
}

/** The digest of no record at all. */
export const emptyDigest = "0".repeat(64);

/**
 * The digest of records that follow those of `before`. Their order counts, and every byte of an item. An object counts
 * with its size and its key, which is the hash of its content.
 */
export function digestAfter(before: string, records: readonly ArchiveRecord[]): string {
  const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
  return records.reduce((digest, record) => hashOf(`${digest}\n${textOf(record)}`), before);
}

function textOf(record: ArchiveRecord): string {
  return record.kind === "item" ? record.item : JSON.stringify([record.key, record.bytes]);
}

/** Signs what an export holds with the key that signs chains. */
export function sealExport(signer: Signer, sealed: Sealed): Promise<string> {
  return signer.sign(sealedText(sealed));
}

/** Whether this deployment has made an export, and nobody has changed it since. */
export function isSealed(signer: Signer, sealed: Sealed, seal: string): Promise<boolean> {
  return signer.verify(sealedText(sealed), seal);
}

/** A chain's signature is over 64 hex digits: a text that begins with a name can never be one, nor the other way round. */
function sealedText({ client, digest }: Sealed): string {
  return `nova-export\n${JSON.stringify({ format: 1, client, digest })}`;
}

/** What a page hands to the next one: what all pages so far held, signed, since it travels through whoever asks. */
export interface RunningDigest {
  /** Where the next page begins. */
  at: string;
  digest: string;
}

/** `reach` is the client of the key that asks. */
type Asked = { client: string; reach: string | null };

export function signPage(signer: Signer, asked: Asked, running: RunningDigest): Promise<string> {
  return signer.sign(pageText(asked, running));
}

export function isPage(signer: Signer, asked: Asked, running: RunningDigest, signature: string): Promise<boolean> {
  return signer.verify(pageText(asked, running), signature);
}

function pageText({ client, reach }: Asked, { at, digest }: RunningDigest): string {
  return `nova-export-page\n${JSON.stringify([client, reach, at, digest])}`;
}
