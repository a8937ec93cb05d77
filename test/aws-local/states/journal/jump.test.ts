import { describe, expect, it } from "vitest";
import { handClock } from "../support/hand-clock.ts";
import { asks, begun, inRow, keeper, rested, standing, works } from "../support/parked.ts";
import { heldLambda } from "../support/server.ts";

const wait = { Wait: { Type: "Wait", Seconds: 3600 } };
const hours = 3600;

/** A machine that checks its clock every ten seconds. */
const watched = () => handClock({ maxNapMs: 10_000 });

describe("a machine that sleeps for three hours", () => {
  it("ends everything that fell due meanwhile as soon as it wakes", async () => {
    const clock = watched();
    const server = await rested(inRow(wait), { clock });
    clock.jump(3 * hours);
    expect(await standing(server)).toMatchObject({ status: "RUNNING" });
    clock.pass(10);
    expect(await standing(server)).toMatchObject({ status: "SUCCEEDED" });
  });

  it("times out tasks without an answer in time", async () => {
    const [clock, { invokeLambda }] = [watched(), keeper()];
    const server = await rested(inRow({ Ask: { ...asks, TimeoutSeconds: 2 * hours } }), { clock, invokeLambda });
    clock.jump(3 * hours);
    clock.pass(10);
    expect(await standing(server)).toMatchObject({ status: "FAILED", error: "States.Timeout" });
  });

  it("gives a function its remaining time", async () => {
    const [clock, { called, invokeLambda, release }] = [watched(), heldLambda()];
    const server = await begun(inRow({ Work: { ...works, TimeoutSeconds: 60 } }), { clock, invokeLambda });
    await called;
    await new Promise(setImmediate); // its time limit is set
    await new Promise(setImmediate);
    clock.jump(3 * hours);
    clock.pass(10);
    await new Promise(setImmediate);
    release();
    expect(await standing(server)).toMatchObject({ status: "SUCCEEDED" });
  });
});

it("prolongs no wait if the clock is set back", async () => {
  const clock = watched();
  const server = await rested(inRow(wait), { clock });
  clock.jump(-3 * hours);
  for (let seconds = 0; seconds <= hours; seconds += 10) {
    clock.pass(10);
    await new Promise(setImmediate);
  }
  expect(await standing(server)).toMatchObject({ status: "SUCCEEDED" });
});
