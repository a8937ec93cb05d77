import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "vite";

const folder = import.meta.dirname;

/**
 * Writes the page as one HTML file, and returns the path of the file. The policy of the page allows only the script and
 * the style in the file.
 */
export async function buildVerifyPage(path = join(folder, "../dist/verify.html")): Promise<string> {
  const options = { entry: join(folder, "page.ts"), formats: ["iife" as const], name: "page" };
  const built = await build({
    configFile: false,
    logLevel: "error",
    root: folder,
    build: { write: false, lib: options, minify: true, target: ["chrome123", "firefox128", "safari17.5"] },
  });
  const [output] = Array.isArray(built) ? built : [built];
  const [chunk] = output && "output" in output ? output.output : [];
  if (chunk?.type !== "chunk") throw new Error("vite made no script of page.ts - run it by hand to see why");
  const script = chunk.code.replaceAll("</script", "<\\/script");
  const style = await readFile(join(folder, "page.css"), "utf8");
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`;
  const parts: Record<string, string> = { script, style, policy };
  const template = await readFile(join(folder, "index.html"), "utf8");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(
    path,
    template.replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name] ?? ""),
  );
  return path;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

if (import.meta.main) process.stdout.write(`${await buildVerifyPage(process.argv[2])}\n`);
