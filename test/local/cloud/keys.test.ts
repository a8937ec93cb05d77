import { mkdtemp, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readKeys } from "../../../packages/local/src/cloud/keys.ts";

const newFolder = () => mkdtemp(join(tmpdir(), "nova-keys-"));

describe("the keys of a data folder", () => {
  it("are made once, whoever asks first, and are the same for all who ask", async () => {
    const folder = join(await newFolder(), "new", ".nova");
    const all = await Promise.all(Array.from({ length: 8 }, () => readKeys(folder)));
    expect(new Set(all.map((keys) => JSON.stringify(keys))).size).toBe(1);
    expect(await readKeys(folder)).toEqual(all[0]);
    expect(await readdir(folder)).toEqual(["keys.json"]);
  });

  it("are random, and may be read by their user alone", async () => {
    const [one, two] = [await newFolder(), await newFolder()];
    const [a, b] = [await readKeys(one), await readKeys(two)];
    expect(Object.values(a).filter((key) => Object.values(b).includes(key))).toEqual([]);
    expect((await stat(join(one, "keys.json"))).mode & 0o777).toBe(0o600);
  });

  it("need a folder, and say so where there can be none", async () => {
    const file = join(await newFolder(), "file");
    await writeFile(file, "");
    await expect(readKeys(file)).rejects.toThrow(/the data folder .*file cannot be used - make it a folder/);
  });

  it.each(["", "{}", '{"accessKeyId":"a"}'])("that are damaged (%j) are named, not replaced", async (text) => {
    const folder = await newFolder();
    await writeFile(join(folder, "keys.json"), text);
    await expect(readKeys(folder)).rejects.toThrow("keys.json is not a key file of NOVA - restore it");
  });
});
