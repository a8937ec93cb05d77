import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** What is wrong with the signature of a close entry, which every one has had since there are any. */
export async function signatureMisfit(
  { signer }: Pick<Ports, "signer">,
  { hash, signature }: StoredEntry,
): Promise<string | undefined> {
  if (signature === undefined) return "the close entry has no signature: it was dropped, or the chain was rewritten";
  return (await signer.verify(hash, signature))
    ? undefined
    : "the signature of the close entry is not valid: the chain was rewritten, or signed with another key";
}
