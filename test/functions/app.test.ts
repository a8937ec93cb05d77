import { beforeAll, expect, it, vi } from "vitest";
import { createPorts, logger } from "../../functions/app.ts";

const least = { NOVA_BUCKET: "bucket", NOVA_SIGNING_KEY: "00".repeat(32), NOVA_VAULT_KEY: "11".repeat(32) };
const task = { id: "task_1", execution: "exec_1", node: "ask", choices: ["approved", "not now"] };

beforeAll(() => {
  process.env.AWS_REGION ??= "us-east-1";
});

it.each([
  [undefined, "nova approve task_1 --choice approved|'not now'"],
  ["https://nova.example.com/tasks", "https://nova.example.com/tasks/task_1"],
  ["https://nova.example.com/tasks/", "https://nova.example.com/tasks/task_1"],
])("messages with the link base %j lead to %s", (NOVA_LINK_BASE, link) => {
  const { links } = createPorts({ ...least, NOVA_LINK_BASE });
  expect(links.toTask(task)).toBe(link);
});

it("the functions put events of executions on the bus and log them as objects, so that metrics can use the fields", async () => {
  const info = vi.spyOn(logger, "info").mockReturnValue(undefined);
  const { events, bus } = createPorts(least);
  const publish = vi.spyOn(bus, "publish").mockResolvedValue(undefined);
  const detail = { execution_id: "exec_1", cost_usd: 0.012 };
  await events.publish("execution.completed", detail);
  expect(info).toHaveBeenCalledExactlyOnceWith("execution.completed", { detail });
  expect(publish).toHaveBeenCalledExactlyOnceWith("execution.completed", detail);
});
