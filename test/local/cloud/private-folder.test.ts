import { chmod, chown, mkdir, mkdtemp, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makePrivateFolder } from "../../../packages/local/src/cloud/private-folder.ts";

async function newFolder(mode: number): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), "nova-private-")), "data");
  await mkdir(folder);
  await chmod(folder, mode);
  return folder;
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("an existing data folder", () => {
  it.each([0o755, 0o777, 0o750, 0o711])("with mode %o becomes private to its owner", async (mode) => {
    const folder = await newFolder(mode);
    await makePrivateFolder(folder);
    expect(await modeOf(folder)).toBe("700");
  });

  it("loses the open modes of its database, blobs, keys and mails, but not of its Python files", async () => {
    const folder = await newFolder(0o755);
    const files = ["keys.json", "api-key", "credential-keys.json", "dynamodb.sqlite", "dynamodb.sqlite-wal"];
    for (const name of files) await writeFile(join(folder, name), "x", { mode: 0o644 });
    const folders = ["s3", "mail", "events", "states", "schedules", "incoming-mail"];
    for (const name of [...folders, "templates"]) await mkdir(join(folder, name), { mode: 0o755 });
    await makePrivateFolder(folder);
    for (const name of files) expect([name, await modeOf(join(folder, name))]).toEqual([name, "600"]);
    for (const name of folders) expect([name, await modeOf(join(folder, name))]).toEqual([name, "700"]);
    expect(await modeOf(join(folder, "templates"))).toBe("755");
  });

  it.each(["python.json", "templates", "docstrings", "demo", "batch", "owner.lock"])(
    "is taken if NOVA made nothing but %s in it",
    async (name) => {
      const folder = await newFolder(0o755);
      await writeFile(join(folder, name), "x");
      await makePrivateFolder(folder);
      expect(await modeOf(folder)).toBe("700");
    },
  );

  it("stays read-only", async () => {
    const folder = await newFolder(0o755);
    await writeFile(join(folder, "keys.json"), "x");
    await chmod(folder, 0o555);
    await makePrivateFolder(folder);
    expect(await modeOf(folder)).toBe("555");
  });

  it("is refused if others may read it and it holds other files", async () => {
    const folder = await newFolder(0o755);
    await writeFile(join(folder, "thesis.tex"), "x");
    await expect(makePrivateFolder(folder)).rejects.toThrow(
      /is open to other users and has other files in it, such as thesis.tex - name a folder of your own in NOVA_DATA_DIR/,
    );
    expect(await modeOf(folder)).toBe("755");
    await chmod(folder, 0o700);
    await makePrivateFolder(folder);
  });

  it.runIf(process.getuid?.() === 0)("is refused if it belongs to another user", async () => {
    const folder = await newFolder(0o755);
    await chown(folder, 65_534, 65_534);
    await expect(makePrivateFolder(folder)).rejects.toThrow(/belongs to another user \(65534\), who could read/);
  });
});
