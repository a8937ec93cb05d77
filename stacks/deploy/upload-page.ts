import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const prefix = "console/";

/** Puts the built page into its bucket. The page itself comes last: what it names is there by then, and stays. */
export async function uploadPage(s3: Pick<S3Client, "send">, bucket: string, folder: string): Promise<void> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const isPage = (path: string) => extname(path) === ".html";
  for (const path of [...paths.filter((one) => !isPage(one)), ...paths.filter(isPage)]) {
    const name = path.slice(folder.length + 1).replaceAll("\\", "/");
    await s3.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: prefix + name,
        Body: await readFile(path),
        ContentType: types[extname(path)] ?? "application/octet-stream",
        // Names of assets carry the hash of what is in them.
        CacheControl: name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      }),
    );
  }
}
