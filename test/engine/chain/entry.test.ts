import { expect, it } from "vitest";
import { contentText, inlineContentsBytes, sealContents } from "../../../packages/engine/src/chain/entry.ts";
import type { ContentName } from "../../../packages/engine/src/ports/chain.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { BlobState } from "../../support/engine/stores.ts";

const home = { client: "c", root: "r" };

it.each([
  ["all contents", { context: 4000, error: 4000 }, []],
  ["the small contents", { context: 9000, error: 100, logs: 8000 }, ["context"]],
  ["all contents except the largest", { context: 3000, error: 4000, logs: 5000 }, ["logs"]],
  ["no content if each is too large", { context: 8193, logs: 65_536 }, ["context", "logs"]],
])(
  "sealing an entry stores %s in the entry itself, at most 8 KB in total, and the rest in blobs",
  async (_what, sizes, inBlobs) => {
    const store = new BlobState();
    const blobs = store.port(atOnce);
    const texts = Object.fromEntries(Object.entries(sizes).map(([name, bytes]) => [name, name[0]?.repeat(bytes)]));
    const { contents, digests } = await sealContents<ContentName>(texts, home, blobs);
    expect(Object.keys(digests).sort()).toEqual(Object.keys(texts).sort());
    const names = Object.entries(contents).flatMap(([name, content]) => ("blob" in content ? [name] : []));
    expect(names.sort()).toEqual(inBlobs);
    const inline = Object.values(contents).reduce(
      (sum, content) => sum + ("text" in content ? content.text.length : 0),
      0,
    );
    expect(inline).toBeLessThanOrEqual(inlineContentsBytes);
    for (const [name, content] of Object.entries(contents))
      expect(await contentText(content, home, blobs)).toBe(texts[name]);
  },
);

it("sealing an entry limits the contents in the entry itself by bytes, not by characters", async () => {
  const { contents } = await sealContents({ logs: "é".repeat(5000) }, home, new BlobState().port(atOnce));
  expect(contents.logs).toMatchObject({ blob: { bytes: 10_000 } });
});
