import { expect, it } from "vitest";
import { openTestCloud } from "../../support/cloud.ts";

it("closes once if an interrupt arrives while it closes", async () => {
  const cloud = await openTestCloud();
  const closings = [cloud.close(), cloud.close()];
  await expect(Promise.all(closings)).resolves.toHaveLength(2);
});
