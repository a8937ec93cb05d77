import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PutObjectCommand } from "@aws-sdk/client-s3";
import { expect, it } from "vitest";
import { uploadPage } from "../../../packages/aws/src/s3/upload-page.ts";
import { getCacheControl, pageTypes } from "../../../packages/console/build/serving.ts";

it("uploadPage uploads the HTML file of the console last, and lets browsers cache without a time limit only the files in assets/", async () => {
  const folder = await mkdtemp(join(tmpdir(), "nova-page-"));
  await mkdir(join(folder, "assets"));
  for (const name of ["index.html", "icon.svg", "assets/a-1.js", "assets/b-2.css"])
    await writeFile(join(folder, name), name);
  const sent: PutObjectCommand["input"][] = [];
  const send = async ({ input }: PutObjectCommand) => void sent.push(input);
  const texts = { "config.json": "{}" };
  await uploadPage(folder, { name: "pages", types: pageTypes, texts, cacheControl: getCacheControl }, {
    send,
  } as never);
  await rm(folder, { recursive: true });
  expect(sent.at(-1)).toMatchObject({ Bucket: "pages", Key: "console/index.html", CacheControl: "no-cache" });
  const rest = sent.slice(0, -1).toSorted((a, b) => String(a.Key).localeCompare(String(b.Key)));
  expect(rest).toMatchObject(
    [
      { Key: "console/assets/a-1.js", ContentType: "text/javascript; charset=utf-8", CacheControl: /immutable/ },
      { Key: "console/assets/b-2.css", ContentType: "text/css; charset=utf-8", CacheControl: /immutable/ },
      { Key: "console/config.json", ContentType: "application/json", CacheControl: "no-cache" },
      { Key: "console/icon.svg", ContentType: "image/svg+xml", CacheControl: "no-cache" },
    ].map((one) => ({ ...one, CacheControl: expect.stringMatching(one.CacheControl) })),
  );
  expect(String(sent[0]?.Body)).not.toBe("");
});
