import { sha256 } from "../../json/hash.ts";
import type { BlobHome, BlobStore } from "../../ports/blobs.ts";
import type { StoredStep } from "../../ports/chain.ts";
import type { PipelineOutcome } from "../../ports/pipeline.ts";
import { contentText, sealContents } from "../contents.ts";

export type Failed = PipelineOutcome & { status: "failed" };

/**
 * That a pipeline has failed lies where its next step would: then no delivery takes another step, and whoever comes
 * after one that died before the entry was written knows how the node ends. No entry lists it.
 */
export async function sealEnding(step: number, told: Failed, home: BlobHome, blobs: BlobStore): Promise<StoredStep> {
  const { contents, digests } = await sealContents({ output: JSON.stringify(told) }, home, blobs);
  const text = JSON.stringify({ format: 1, ends: true, digests });
  return { step, text, hash: sha256(text), contents };
}

export function isEnding({ text }: StoredStep): boolean {
  return (JSON.parse(text) as { ends?: true }).ends === true;
}

export async function readEnding({ contents }: StoredStep, home: BlobHome, blobs: BlobStore): Promise<Failed> {
  if (contents?.output) return JSON.parse(await contentText(contents.output, home, blobs)) as Failed;
  const erased = { class: "NodeFailed", message: "erased" } as const;
  return { status: "failed", ...erased, code: null, cacheHit: false, generation: null, sandboxId: null };
}
