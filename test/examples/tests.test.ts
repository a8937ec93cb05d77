import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ensurePython } from "@nova/local";
import { beforeAll, expect, it } from "vitest";
import { nova } from "../cli/support/nova.ts";

const invoice = join(import.meta.dirname, "../../packages/examples/invoice");

beforeAll(() => ensurePython({ debian: true }), 300_000);

it("the invoice example passes its own tests without a mail server and a database", {
  timeout: 120_000,
}, async () => {
  const names = (await readdir(join(invoice, "tests"))).filter((file) => file.endsWith(".json"));
  expect(names).toEqual(["high.json", "low.json", "without-pdf.json"]);
  const { code, stdout } = await nova(invoice, "test", ".", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ passed: 3, failed: 0, stale: 0 });
  expect(code).toBe(0);
});
