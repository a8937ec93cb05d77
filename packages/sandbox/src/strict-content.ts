import { type BlobType, StrictJson, Utf8Check } from "@nova/engine";

/** Looks at a blob's bytes as they pass, and answers or throws at once where they cannot be what the blob says to be. */
interface ContentCheck {
  look(chunk: Uint8Array): unknown;
  end(): unknown;
}

/** A value that says to be a text or JSON and is none. */
export class OtherContent extends Error {
  override name = "OtherContent";
}

export const contentChecks: Record<BlobType, () => ContentCheck> = {
  bytes: () => ({ look: () => undefined, end: () => undefined }),
  text: () => {
    const utf8 = new Utf8Check();
    const demand = (isText: boolean) => {
      if (!isText) throw new OtherContent("is not UTF-8");
    };
    return { look: (chunk) => demand(utf8.look(chunk)), end: () => demand(utf8.end()) };
  },
  json: () => new StrictJson(),
};
