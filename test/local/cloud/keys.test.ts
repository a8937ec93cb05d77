import { mkdtemp, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readKeys } from "../../../packages/local/src/cloud/keys.ts";

const newFolder = () => mkdtemp(join(tmpdir(), "nova-keys-"));

describe("the keys of a data folder", () => {
  it("are created once, and all processes get the same keys", async () => {
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

  it("report a folder that cannot be created", async () => {
    const file = join(await newFolder(), "file");
    await writeFile(file, "");
    await expect(readKeys(file)).rejects.toThrow(/the data folder .*file cannot be used - make it a folder/);
  });

  it.each(["", "{}", '{"accessKeyId":"a"}'])(
    "stay as they are if they are damaged (%j), and the error names them",
    async (text) => {
      const folder = await newFolder();
      await writeFile(join(folder, "keys.json"), text);
      await expect(readKeys(folder)).rejects.toThrow("keys.json is not a key file of NOVA - restore it");
    },
  );
});
