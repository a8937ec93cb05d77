import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalCloud } from "@nova/local";
import { afterEach, describe, expect, it, vi } from "vitest";
import { describeIneffective, variableDigests } from "../../../packages/local/src/cloud/owner-file.ts";

afterEach(() => vi.unstubAllEnvs());

const owner = (env: Record<string, string>) => ({ pid: 7, instance: "one", variables: variableDigests(env, "one") });

describe("an environment variable of a guest of the local cloud", () => {
  it.each([
    [
      "a value other than the owner's",
      { DEFAULT_MODEL: "a" },
      { DEFAULT_MODEL: "b" },
      /^DEFAULT_MODEL has no effect on nodes: process 7/,
    ],
    ["a value that the owner lacks", { NOVA_EMBEDDING_MODEL: "a" }, {}, /^NOVA_EMBEDDING_MODEL has no effect/],
    [
      "one of several values other than the owner's",
      { OPENAI_BASE_URL: "http://a/", NOVA_LLM_API: "chat" },
      {},
      /^OPENAI_BASE_URL, NOVA_LLM_API have no/,
    ],
    [
      "a secret key other than the owner's",
      { OPENAI_API_KEY: "a" },
      { OPENAI_API_KEY: "b" },
      /^OPENAI_API_KEY has no effect/,
    ],
  ])("with %s causes a warning that the variable has no effect", (_, env, ofOwner, sentence) => {
    expect(describeIneffective(env, owner(ofOwner as Record<string, string>))).toMatch(sentence);
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ["the value that it also has for the owner", { DEFAULT_MODEL: "a " }, { DEFAULT_MODEL: "a" }],
    ["an empty value", { DEFAULT_MODEL: " " }, { DEFAULT_MODEL: "a" }],
    ["no value", {}, { DEFAULT_MODEL: "a", OPENAI_API_KEY: "k" }],
    ["a value that this process itself uses", { NOVA_DATA_DIR: "x" }, {}],
  ])("causes no warning if it has %s", (_, env, ofOwner) => {
    expect(describeIneffective(env, owner(ofOwner))).toBeUndefined();
  });
});

it("a guest of a local cloud reports environment variables without effect, and stores no secret key", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "nova-variables-"));
  vi.stubEnv("OPENAI_API_KEY", "sk-of-the-owner");
  const cloud = await openLocalCloud({ dataDir });
  try {
    expect(await readFile(join(dataDir, "owner.json"), "utf8")).not.toContain("sk-of-the-owner");
    const sentencesWith = async (drives: boolean) => {
      const sentences: string[] = [];
      const guest = await openLocalCloud({ dataDir, drives, warn: (sentence) => sentences.push(sentence) });
      expect(guest.role).toBe("guest");
      await guest.close();
      return sentences;
    };
    expect(await sentencesWith(true)).toEqual([]);
    vi.stubEnv("DEFAULT_MODEL", "another");
    expect(await sentencesWith(true)).toEqual([
      expect.stringMatching(/^DEFAULT_MODEL has no effect on nodes: process \d+/),
    ]);
    expect(await sentencesWith(false)).toEqual([]);
  } finally {
    await cloud.close();
    await rm(dataDir, { recursive: true });
  }
}, 60_000);
