import { createHash } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { FileInput } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { readFiles } from "../../../packages/cli/src/input/context.ts";

const folder = await mkdtemp(join(tmpdir(), "nova-files-"));

describe("the option --file key=path", () => {
  it("gives nova run the hash and the size of the file, and lets it read the bytes several times", async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 256));
    const path = join(folder, "a=b.bin");
    await writeFile(path, bytes);
    const [file] = (await readFiles([`pdf=${path}`])) as [FileInput];
    expect(file).toMatchObject({
      key: "pdf",
      bytes: 200_000,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
    for (let time = 0; time < 2; time++) expect(bytes.equals(await buffer(file.open()))).toBe(true);
  });

  it.each([
    ["pdf", "--file pdf is not --file key=path"],
    ["=x.pdf", "--file =x.pdf is not --file key=path"],
    [`pdf=${join(folder, "none.pdf")}`, "--file pdf: there is no file"],
    [`pdf=${folder}`, "is not a file - name one"],
  ])("is refused with the value %s", async (option, sentence) => {
    await expect(readFiles([option])).rejects.toThrow(sentence);
  });
});
