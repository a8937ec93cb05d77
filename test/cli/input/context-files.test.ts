import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placeContextFiles } from "../../../packages/cli/src/input/context.ts";

let folder: string;
const at = () => join(folder, "context.json");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-context-"));
  await writeFile(join(folder, "doc.pdf"), "%PDF");
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the file of nova run --context", () => {
  it("is used as it is written if it names no files", async () => {
    const context = '{"n": 850.0}';
    expect(await placeContextFiles(context, at())).toEqual({ context, files: [] });
  });

  it("is read with a placeholder for each file that it names, so that the command can read the bytes later", async () => {
    const { context, files } = await placeContextFiles(
      '{"n":850.0,"mail":{"attachments":[{"$file":"doc.pdf"}]}}',
      at(),
    );
    const [file] = files;
    expect(context).toBe(`{"n":850.0,"mail":{"attachments":["${file?.mark}"]}}`);
    expect(file).toMatchObject({ bytes: 4 });
    expect(Buffer.concat(await Array.fromAsync(file?.open() ?? [])).toString()).toBe("%PDF");
  });

  it.each([
    ["a key named $file", '{"a":{"$$file":"doc.pdf"}}', '{"a":{"$file":"doc.pdf"}}'],
    ["an object with further keys", '{"a":{"$file":"doc.pdf","b":1}}', '{"a":{"$file":"doc.pdf","b":1}}'],
    ["a path that is not a text", '{"a":{"$file":1}}', '{"a":{"$file":1}}'],
  ])("may contain %s, which names no file", async (_what, context, expected) => {
    expect(await placeContextFiles(context, at())).toEqual({ context: expected, files: [] });
  });

  it("may name a link to a file in its own folder, but no link that leads out of this folder", async () => {
    await mkdir(join(folder, "deep"));
    await writeFile(join(folder, "deep/context.json"), "");
    await symlink("doc.pdf", join(folder, "same.pdf"));
    await symlink("../doc.pdf", join(folder, "deep/doc.pdf"));
    const { files } = await placeContextFiles('{"a":{"$file":"same.pdf"}}', at());
    expect(files).toMatchObject([{ bytes: 4 }]);
    const placing = placeContextFiles('{"a":{"$file":"doc.pdf"}}', join(folder, "deep/context.json"));
    await expect(placing).rejects.toThrow(
      /"doc.pdf" is a link that leads out of the folder .* name one in its own folder/,
    );
  });

  it.each([
    ["/etc/passwd", /names the file "\/etc\/passwd" - name one in its own folder/],
    ["../doc.pdf", /name one in its own folder/],
    ["files/../../doc.pdf", /name one in its own folder/],
    ["none.pdf", /there is no file ".*none.pdf" - correct the path/],
    [".", /is not a file - name one/],
  ])("is refused if it names %s as a file", async (path, message) => {
    const placing = placeContextFiles(JSON.stringify({ a: { $file: path } }), at());
    await expect(placing).rejects.toThrow(message);
  });
});
