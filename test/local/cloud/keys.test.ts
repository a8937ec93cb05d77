import { chmod, chown, mkdir, mkdtemp, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makePrivateFolder, readKeys } from "../../../packages/local/src/cloud/keys.ts";

const newFolder = () => mkdtemp(join(tmpdir(), "nova-keys-"));

describe("the secret keys of a data folder", () => {
  it("are created only once, so that all processes get the same keys", async () => {
    const folder = join(await newFolder(), "new", ".nova");
    const all = await Promise.all(Array.from({ length: 8 }, () => readKeys(folder)));
    expect(new Set(all.map((keys) => JSON.stringify(keys))).size).toBe(1);
    expect(await readKeys(folder)).toEqual(all[0]);
    expect(await readdir(folder)).toEqual(["keys.json"]);
  });

  it("are random, and only their user may read them", async () => {
    const [one, two] = [await newFolder(), await newFolder()];
    const [a, b] = [await readKeys(one), await readKeys(two)];
    expect(Object.values(a).filter((key) => Object.values(b).includes(key))).toEqual([]);
    expect((await stat(join(one, "keys.json"))).mode & 0o777).toBe(0o600);
  });

  it("cannot be created if the data folder is a file, and the error says to name a folder", async () => {
    const file = join(await newFolder(), "file");
    await writeFile(file, "");
    await expect(readKeys(file)).rejects.toThrow(/the data folder .*file cannot be used - make it a folder/);
  });

  it.each(["", "{}", '{"accessKeyId":"a"}'])(
    "are not replaced if their file is damaged (%j), and the error names this file",
    async (text) => {
      const folder = await newFolder();
      await writeFile(join(folder, "keys.json"), text);
      await expect(readKeys(folder)).rejects.toThrow("keys.json is not a key file of NOVA - restore it");
    },
  );
});

async function folderWithMode(mode: number): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), "nova-private-")), "data");
  await mkdir(folder);
  await chmod(folder, mode);
  return folder;
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("an existing data folder", () => {
  it.each([0o755, 0o777, 0o750, 0o711])("with the file mode %o becomes private to its user", async (mode) => {
    const folder = await folderWithMode(mode);
    await makePrivateFolder(folder);
    expect(await modeOf(folder)).toBe("700");
  });

  it("makes its database, blobs, keys and mails private to its user, but not its Python files", async () => {
    const folder = await folderWithMode(0o755);
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
    "is accepted if it contains only %s, which NOVA itself writes",
    async (name) => {
      const folder = await folderWithMode(0o755);
      await writeFile(join(folder, name), "x");
      await makePrivateFolder(folder);
      expect(await modeOf(folder)).toBe("700");
    },
  );

  it("stays read-only if it was read-only before", async () => {
    const folder = await folderWithMode(0o755);
    await writeFile(join(folder, "keys.json"), "x");
    await chmod(folder, 0o555);
    await makePrivateFolder(folder);
    expect(await modeOf(folder)).toBe("555");
  });

  it("is refused if other users may read it and it contains files that NOVA did not make", async () => {
    const folder = await folderWithMode(0o755);
    await writeFile(join(folder, "thesis.tex"), "x");
    await expect(makePrivateFolder(folder)).rejects.toThrow(
      /is open to other users and has other files in it, such as thesis.tex - name a folder of your own in NOVA_DATA_DIR/,
    );
    expect(await modeOf(folder)).toBe("755");
    await chmod(folder, 0o700);
    await makePrivateFolder(folder);
  });

  it.runIf(process.getuid?.() === 0)("is refused if it belongs to another user", async () => {
    const folder = await folderWithMode(0o755);
    await chown(folder, 65_534, 65_534);
    await expect(makePrivateFolder(folder)).rejects.toThrow(/belongs to another user \(65534\), who could read/);
  });
});
