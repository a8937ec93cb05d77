import { describe, expect, it } from "vitest";
import { handClock } from "../support/hand-clock.ts";
import { asks, begun, inRow, keeper, rested, standing, works } from "../support/parked.ts";
import { heldLambda } from "../support/server.ts";

const wait = { Wait: { Type: "Wait", Seconds: 3600 } };
const hours = 3600;

/** The clock of a machine. The emulator checks it every ten seconds, so it notices jumps. */
const watched = () => handClock({ maxNapMs: 10_000 });

describe("a computer that sleeps for three hours", () => {
  it("ends a Wait state as soon as it wakes if the state became due during the sleep", async () => {
    const clock = watched();
    const server = await rested(inRow(wait), { clock });
    clock.jump(3 * hours);
    expect(await standing(server)).toMatchObject({ status: "RUNNING" });
    clock.pass(10);
    expect(await standing(server)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("times out a waiting task if the task's time limit passed during the sleep", async () => {
    const [clock, { invokeLambda }] = [watched(), keeper()];
    const server = await rested(inRow({ Ask: { ...asks, TimeoutSeconds: 2 * hours } }), { clock, invokeLambda });
    clock.jump(3 * hours);
    clock.pass(10);
    expect(await standing(server)).toMatchObject({ status: "FAILED", error: "States.Timeout" });
  });

  it("gives a running Lambda function the time that it had left before the sleep", async () => {
    const [clock, { called, invokeLambda, release }] = [watched(), heldLambda()];
    const server = await begun(inRow({ Work: { ...works, TimeoutSeconds: 60 } }), { clock, invokeLambda });
    await called;
    await new Promise(setImmediate); // The execution has now set the time limit of its task.
    await new Promise(setImmediate);
    clock.jump(3 * hours);
    clock.pass(10);
    await new Promise(setImmediate);
    release();
    expect(await standing(server)).toMatchObject({ status: "SUCCEEDED" });
  });
});

it("a Wait state does not take longer if the computer's clock is set back", async () => {
  const clock = watched();
  const server = await rested(inRow(wait), { clock });
  clock.jump(-3 * hours);
  for (let seconds = 0; seconds <= hours; seconds += 10) {
    clock.pass(10);
    await new Promise(setImmediate);
  }
  expect(await standing(server)).toMatchObject({ status: "SUCCEEDED" });
});
