import type { Signer } from "@nova/engine";
import { isSealed } from "@nova/service";
import { InvalidInput } from "../errors.ts";
import type { Manifest } from "./format.ts";

/** Why an export is not known to be what was exported; undefined: it is. `signer`: of the place that it goes to. */
export async function whyUnverified(manifest: Manifest, signer: Signer | undefined): Promise<string | undefined> {
  const { client, digest, seal } = manifest;
  if (digest === undefined || seal === undefined)
    return "it has no seal: an earlier release wrote it, or one without the signing key, or somebody took it out";
  if (!signer) return "there is no key here that could have sealed it";
  if (await isSealed(signer, { client, digest }, seal)) return undefined;
  return "the key here has not sealed it: it comes from another NOVA, or was changed";
}

/** Throws `InvalidInput` unless somebody has said that it is trusted all the same. */
export function demandTrust(folder: string, why: string, isTrusted: boolean): void {
  if (isTrusted) return;
  const meaning = "nothing proves then that what is brought back is what was exported";
  throw new InvalidInput(`"${folder}" is not verified: ${why} - if you trust the folder, add --unverified: ${meaning}`);
}
