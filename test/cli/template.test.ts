import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { templateName } from "@nova/workflow";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inARow } from "../support/cloud.ts";
import { newFolder, nova } from "./support/nova.ts";

const asked: string[] = [];
/** An E2B account that has one template. */
const e2b = createServer(({ url = "" }, response) => {
  asked.push(url);
  const isThere = url.endsWith(templateName(["humanize==4.12"]));
  response.writeHead(isThere ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(isThere ? { templateID: "t1", public: false } : { code: 404, message: "none" }));
});
let cwd: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => e2b.listen(0, "127.0.0.1", resolve));
  cwd = await newFolder();
});
afterAll(() => new Promise((resolve) => e2b.close(resolve)));

beforeEach(() => {
  asked.length = 0;
  process.env.E2B_API_URL = `http://127.0.0.1:${(e2b.address() as AddressInfo).port}`;
  delete process.env.E2B_API_KEY;
});

/** Writes a workflow file and returns its path. */
async function write(id: string, requirements: string[]): Promise<string> {
  const file = join(cwd, `${id}.json`);
  await writeFile(file, JSON.stringify({ ...inARow(id, { work: "context['x'] = 1" }), requirements }));
  return file;
}

describe("nova template build --missing", () => {
  it("builds nothing, and needs no account, for a workflow without requirements", async () => {
    const folder = await write("plain", []);
    expect(await nova(cwd, "template", "build", folder, "--missing")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(asked).toEqual([]);
  });

  it("looks up the template by the name that deployed runs use, and builds nothing if the template exists", async () => {
    process.env.E2B_API_KEY = `e2b_${"0".repeat(40)}`;
    const folder = await write("counting", ["humanize==4.12"]);
    expect(await nova(cwd, "template", "build", folder, "--missing")).toMatchObject({ code: 0, stderr: "" });
    expect(asked).toEqual([`/templates/aliases/${templateName(["humanize==4.12"])}`]);
  });

  it("names the environment variable to set if there is no E2B account", async () => {
    const folder = await write("lacking", ["humanize==4.12"]);
    const { code, stderr } = await nova(cwd, "template", "build", folder, "--missing");
    expect([code, stderr]).toEqual([
      2,
      "nova: nova template build needs an E2B account - set E2B_API_KEY to its key\n",
    ]);
  });
});
