import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";

/** The bucket of the console, and the headers of its files. */
export interface PageBucket {
  name: string;
  types: Record<string, string>;
  texts: Record<string, string>;
  cacheControl(name: string): string;
}

/** Uploads the built console. It uploads HTML files last, after the files that they name. */
export async function uploadPage(
  folder: string,
  { name: bucket, types, texts, cacheControl }: PageBucket,
  s3: Pick<S3Client, "send"> = new S3Client(),
): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const put = (name: string, body: Buffer | string) =>
    s3.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: `console/${name}`,
        Body: body,
        ContentType: types[extname(name)],
        CacheControl: cacheControl(name),
      }),
    );
  for (const [name, text] of Object.entries(texts)) await put(name, text);
  const isPage = (path: string) => extname(path) === ".html";
  for (const path of [...paths.filter((one) => !isPage(one)), ...paths.filter(isPage)]) {
    await put(relative(folder, path).split(sep).join("/"), await readFile(path));
  }
}
