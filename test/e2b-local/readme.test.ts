import { describe, expect, it } from "vitest";
import { codeBlocks, emptyFolder, freePorts, outputOf, startServer } from "../support/readme.ts";

describe("the README of e2b-local", () => {
  it("has an example that starts the server and points the SDK at it", { timeout: 60_000 }, async () => {
    const { js = [], sh = [], text = [] } = await codeBlocks("packages/e2b-local/README.md");
    const [variables = "", output = ""] = text;
    const port = await freePorts(1);
    const command = (sh[0] as string).replace("4980", String(port));

    const environment = await startServer(command, await emptyFolder(), 3);

    const lines = Object.entries(environment).map(([name, value]) => `export ${name}=${value}\n`);
    expect(lines.join("")).toBe(variables.replaceAll("4980", String(port)));
    expect(await outputOf(js[0] as string, environment)).toBe(output);
  });
});
