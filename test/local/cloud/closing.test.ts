import { expect, it } from "vitest";
import { openTestCloud } from "../../support/cloud.ts";

it("closes once when it is told to interrupt while it is closing", async () => {
  const cloud = await openTestCloud();
  const closings = [cloud.close(), cloud.close()];
  await expect(Promise.all(closings)).resolves.toHaveLength(2);
});
