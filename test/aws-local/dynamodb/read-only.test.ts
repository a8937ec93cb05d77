import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../../packages/aws-local/src/dynamodb/store/database.ts";

const insert = "INSERT INTO tables (name, state) VALUES ('a', '{}')";

it.each(["", "with a log that a killed process left"])(
  "the local DynamoDB, opened read-only, reads a folder, refuses writes and changes no file %s",
  (log) => {
    const folder = mkdtempSync(join(tmpdir(), "nova-read-only-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const writer = openDatabase(folder, false);
    writer.exec(insert);
    if (!log) writer.close();
    const before = readdirSync(folder);
    const reader = openDatabase(folder, true);
    expect(reader.prepare("SELECT name FROM tables").all()).toMatchObject([{ name: "a" }]);
    expect(() => reader.exec(insert.replace("'a'", "'c'"))).toThrow(/readonly/);
    expect(readdirSync(folder)).toEqual(before);
    reader.close();
    if (log) writer.close();
  },
);
