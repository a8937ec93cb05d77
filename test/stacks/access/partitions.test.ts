import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as partitions from "../../../stacks/access/partitions.ts";
import { root } from "../../support/imports.ts";

const { erasable, ...own } = partitions;

/** Entities of packages/aws: the partition of each, and whether its records name their client. */
const entities = globSync("packages/aws/src/dynamodb/**/*.ts", { cwd: root }).flatMap((file) => {
  const source = readFileSync(join(root, file), "utf8");
  return Array.from(
    source.matchAll(/= record\(\s*"[\w-]+",(.*?)tableKeys\("([^"{]*)/gs),
    ([, attributes = "", prefix = ""]) => ({
      file,
      pattern: prefix.endsWith("#") ? `${prefix}*` : prefix,
      isOfClient: /\b(client|owner): |"(client|owner)"/.test(attributes),
    }),
  );
});

/** Records of runs that a client had, and the audit log. */
const staying = ["E#*", "A"];

describe("the partitions that roles reach", () => {
  it.each(entities)("have a name for the partition of $file", ({ pattern }) => {
    expect(Object.values(own).flat()).toContain(pattern);
  });

  it("have unique prefixes", () => {
    const prefixes = Object.values(own)
      .flat()
      .map((pattern) => pattern.replace("*", ""));
    const confused = prefixes.filter((one) =>
      prefixes.some((other) => other !== one && other.startsWith(one) && one.endsWith("#")),
    );
    expect(confused).toEqual([]);
    expect(new Set(prefixes).size).toBe(prefixes.length);
  });

  it("allow the eraser to delete every record with a client, and no chain", () => {
    const named = entities.filter(({ isOfClient }) => isOfClient).map(({ pattern }) => pattern);
    expect(named.length).toBeGreaterThan(5);
    expect(new Set(named.filter((pattern) => !erasable.includes(pattern)))).toEqual(new Set(staying));
    expect(erasable).not.toContain("C#*");
  });
});
