import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeBlocks, emptyFolder, freePorts, outputOf, startServer } from "../support/readme.ts";

describe("the README of aws-local", () => {
  it("has an example that starts the services and points the SDKs at them", { timeout: 60_000 }, async () => {
    const { js = [], sh = [], text = [] } = await codeBlocks("packages/aws-local/README.md");
    const [functions = "", program = ""] = js;
    const [variables = "", output = ""] = text;
    const folder = await emptyFolder();
    await writeFile(join(folder, "functions.mjs"), functions);
    const port = await freePorts(4);

    const environment = await startServer((sh[0] as string).replace("4566", String(port)), folder, 8);

    const expected = variables.replace(/456(\d)/g, (_, digit) => String(port + Number(digit) - 6));
    expect(Object.entries(environment).map(([name, value]) => `export ${name}=${value}\n`)).toEqual(
      expected.match(/.+\n/g),
    );
    expect(await outputOf(program, environment)).toBe(output);
    expect(await readdir(join(folder, ".aws-local", "mail"))).toHaveLength(1);
  });
});
