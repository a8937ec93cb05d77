import { rm } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { newFolder, nova } from "./support/nova.ts";

let cwd: string;
beforeAll(async () => {
  cwd = await newFolder();
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rm(cwd, { recursive: true, force: true }));

interface Check {
  name: string;
  ok: boolean;
  fix: string | null;
}

async function examine(): Promise<{ code: number | null; of: Record<string, Check> }> {
  const { code, stdout } = await nova(cwd, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return { code, of: Object.fromEntries(checks.map((check) => [check.name, check])) };
}

describe("nova doctor", () => {
  it("reports the result of every check, and says how to fix each failed check", async () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    vi.stubEnv("OPENAI_BASE_URL", "");
    const { code, of } = await examine();
    expect(Object.keys(of)).toEqual(["node", "python", "data folder", "server", "walls", "packages", "model"]);
    expect([of.node, of.server]).toEqual([
      { name: "node", ok: true, fix: null },
      { name: "server", ok: true, fix: null },
    ]);
    // A model is optional, so its absence does not fail the command.
    expect([code, of.model]).toEqual([0, { name: "model", ok: false, fix: expect.stringContaining("OPENAI_API_KEY") }]);
  });

  it("exits with 1 if the server does not answer", { tags: ["deep"] }, async () => {
    vi.stubEnv("NOVA_URL", "http://127.0.0.1:9");
    vi.stubEnv("NOVA_API_KEY", "none");
    const { code, of } = await examine();
    expect([code, of.server]).toEqual([
      1,
      { name: "server", ok: false, fix: expect.stringMatching(/cannot be reached/) },
    ]);
  });

  it("exits with 1 and names NOVA_DATA_DIR if the data folder cannot be made", async () => {
    vi.stubEnv("NOVA_DATA_DIR", "/proc/nowhere/.nova");
    const { code, of } = await examine();
    expect([code, of["data folder"]?.fix]).toEqual([1, expect.stringMatching(/set NOVA_DATA_DIR/)]);
  });

  it("prints one line for each check", async () => {
    const { stdout } = await nova(cwd, "doctor");
    expect(stdout).toMatch(/^ok +node$/m);
  });
});
