import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { clientSchema } from "../../functions/api/openapi/client-schema.ts";
import { root } from "../support/imports.ts";

it("has the types of the API as it is now: npm run client makes them", async () => {
  const committed = await readFile(join(root, "packages/client/src/schema.d.ts"), "utf8");
  expect((await clientSchema()) === committed).toBe(true);
});
