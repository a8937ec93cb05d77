import { beforeEach, expect, it, vi } from "vitest";
import { handler } from "../../functions/sweep.ts";
import { SweepWorld } from "../service/support/sweep-world.ts";

const lambda = vi.hoisted(() => ({ ports: undefined as unknown, logged: [] as unknown[] }));

vi.mock("../../functions/service-app.ts", () => ({ warmServicePorts: () => lambda.ports }));
vi.mock("../../functions/app.ts", () => {
  const log = (...line: unknown[]) => void lambda.logged.push(line);
  return { logger: { warn: log, error: log, info: log }, warmPorts: () => lambda.ports };
});

let world: SweepWorld;

beforeEach(() => {
  world = new SweepWorld();
  for (let n = 0; n < 100; n++) world.record(`exec_${n}`);
  world.describeMs = 1_000;
  lambda.ports = world.ports();
  lambda.logged.length = 0;
});

/** Returns the context of a Lambda whose timeout ends after `ms` milliseconds. */
const context = (ms: number) => {
  const end = world.now + ms;
  return { awsRequestId: "r-1", getRemainingTimeInMillis: () => end - world.now };
};

it("the sweeper spends half of the Lambda's time on runs, and the rest on all other work", async () => {
  await handler({}, context(50_000));
  expect(world.log.filter((line) => line.startsWith("describe"))).toHaveLength(20);
  expect(world.log.slice(-6)).toEqual(["tasks", "queues", "sandboxes", "publications", "triggers", "erasures"]);
});

it("the sweeper reports the first failure only after it has finished every possible step", async () => {
  world.away.add("publications");
  const sweeping = handler({}, context(300_000));
  await expect(sweeping).rejects.toThrow(new TypeError("publications are away"));
  expect(world.log.at(-1)).toBe("erasures");
  const parts = [{ part: "publications", reason: "TypeError: publications are away" }];
  expect(lambda.logged).toContainEqual(["parts of the service that cannot be swept", { parts }]);
  expect(lambda.logged).toContainEqual(["swept", { queued: 0, sandboxes: 3 }]);
  expect(lambda.logged).toContainEqual(["TypeError", { request: "r-1", reason: "publications are away" }]);
});

it("the sweeper does not fail if the only failure is that E2B cannot count sandboxes", async () => {
  const away = () => Promise.reject(Object.assign(new Error("E2B is away"), { name: "SandboxUnavailable" }));
  lambda.ports = { ...world.ports(), sandboxes: { count: away } };
  await handler({}, context(300_000));
  expect(lambda.logged).toContainEqual(["swept", { queued: 0, sandboxes: undefined }]);
});
