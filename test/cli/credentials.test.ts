import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { runCommandLine } from "../../packages/cli/src/main.ts";

let folder: string;
let out: string[];
let err: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-credentials-"));
  vi.stubEnv("NOVA_DATA_DIR", join(folder, "data"));
  await writeFile(join(folder, "email.json"), '{"user": "a@acme.test", "password": "s3cret-4711"}');
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  [out, err] = [[], []];
  vi.spyOn(console, "log").mockImplementation((line) => void out.push(line));
  vi.spyOn(process.stderr, "write").mockImplementation((line) => err.push(String(line)) > 0);
});

const nova = (...args: string[]) => runCommandLine(["credentials", ...args]);
const file = () => join(folder, "email.json");

describe("nova credentials", () => {
  it("stores a credential from a file and a field, lists it without values, re-encrypts it and removes it", async () => {
    expect(await nova("set", "default", "email", "--file", file(), "--set", "smtp_host=smtp.acme.test")).toBe(0);
    expect(await nova("list", "default", "--json")).toBe(0);
    expect(await nova("rotate")).toBe(0);
    expect(await nova("remove", "default", "email")).toBe(0);
    expect(await nova("list", "default")).toBe(0);
    expect(out).toEqual([
      "email (email) is stored",
      expect.stringMatching(/^\{"items":\[\{"name":"email","kind":"email","changed_at":"[^"]+"\}\]\}$/),
      "1 re-encrypted with the new key",
      "email is removed",
      "no credentials - nova credentials set stores one",
    ]);
    expect(err).toEqual([]);
  });

  it.each([
    ["an unknown action", ["show", "default"], /cannot "show" - it can set, list, remove and rotate/],
    ["a missing owner", ["list"], /needs an owner - name a client, or "default"/],
    ["a missing name", ["remove", "default"], /needs a name - write it after default/],
    ["an unknown kind", ["set", "default", "ftp"], /"ftp" is not the name of a kind - use one of --kind/],
    ["a field without a value", ["set", "default", "email", "--set", "user"], /--set user has no field and value/],
    [
      "values that do not fit the kind",
      ["set", "default", "email", "--set", "smtp_port=x"],
      /no values of the kind email: user/,
    ],
    ["a credential that does not exist", ["remove", "default", "email"], /there is no credential "email" here/],
    ["a client that does not exist", ["list", "nobody"], /there is no client "nobody"/],
  ])("explains the problem with %s", async (_what, args, reason) => {
    expect(await nova(...args)).toBe(2);
    expect(err.join("")).toMatch(reason);
  });

  it("does not print the secret of a file that is not JSON", async () => {
    await writeFile(join(folder, "bad.json"), '{"password": "s3cret-4711"');
    expect(await nova("set", "default", "email", "--file", join(folder, "bad.json"))).toBe(2);
    expect(err.join("")).not.toContain("s3cret");
  });
});
