import { describe, expect, it } from "vitest";
import { killedError } from "../../../packages/aws-local/src/lambda/lambda-runtime.ts";
import { answer, FUNCTION } from "../../aws-local/states/support/run.ts";
import { runStateMachine } from "../../aws-local/states/support/run-state-machine.ts";
import { virtualClock } from "../../aws-local/states/support/virtual-clock.ts";
import { type InvokeObserved, withChaos } from "./chaos.ts";

/**
 * Random numbers in the order in which `withChaos` draws them for a task. They decide whether the second delivery
 * starts together with the first one or later, how much later it starts, and which delivery's answer the caller gets.
 * The last three numbers decide which delivery a kill hits, when it happens, and whether it happens.
 */
const TOGETHER = 0.1;
const LATE = [0.9, 0.5];
const HEAR_FIRST = 0.9;
const HEAR_SECOND = 0.1;
const KILL_FIRST = [0.1, 0.5, 0.1];
const KILL_SECOND = [0.9, 0.5, 0.1];
const NO_KILL = [0.1, 0.5, 0.9];

/** Creates a task whose deliveries are numbered as they start. Each delivery takes 100 ms unless it is killed. */
function deliveries(draws: number[]) {
  const clock = virtualClock();
  const log: string[] = [];
  let count = 0;
  const invokeLambda: InvokeObserved = async (_arn, _payload, signal, onBegin) => {
    const number = ++count;
    onBegin?.();
    const at = () => clock.now() - virtualClock().now();
    log.push(`${number} begins at ${at()}`);
    await clock.sleep(100, signal);
    log.push(`${number} ${signal?.aborted ? "dies" : "ends"} at ${at()}`);
    if (signal?.aborted) throw killedError();
    return answer(number);
  };
  const rest = [...draws];
  return { ...withChaos(invokeLambda, { seed: 1, random: () => rest.shift() ?? 1, clock }), log };
}

describe("a Lambda task under chaos (double deliveries and kills)", () => {
  it.each<[string, number[], string, string[]]>([
    [
      "is delivered twice at the same time",
      [TOGETHER, HEAR_FIRST, ...NO_KILL],
      "1",
      ["1 begins at 0", "2 begins at 0", "1 ends at 100", "2 ends at 100"],
    ],
    [
      "is delivered once more after it has answered",
      [...LATE, HEAR_FIRST, ...NO_KILL],
      "1",
      ["1 begins at 0", "1 ends at 100", "2 begins at 160", "2 ends at 260"],
    ],
    [
      "loses its first answer and returns the answer of the late delivery",
      [...LATE, HEAR_SECOND, ...NO_KILL],
      "2",
      ["1 begins at 0", "1 ends at 100", "2 begins at 160", "2 ends at 260"],
    ],
    [
      "returns the first answer if the second delivery is killed",
      [TOGETHER, HEAR_FIRST, ...KILL_SECOND],
      "1",
      ["1 begins at 0", "2 begins at 0", "2 dies at 30", "1 ends at 100"],
    ],
    [
      "is delivered again after the first delivery was killed",
      [...LATE, HEAR_FIRST, ...KILL_FIRST],
      "Lambda.Unknown",
      ["1 begins at 0", "1 dies at 30", "2 begins at 90", "2 ends at 190"],
    ],
  ])("gets the faults that its script plans: it %s", async (_name, draws, expected, log) => {
    const chaos = deliveries(draws);
    const heard = await chaos.invokeLambda(FUNCTION, "{}").then(
      (result) => (result.ok ? result.payload : result.errorType),
      (error: Error) => error.name,
    );
    await chaos.settled();
    expect(heard).toBe(expected);
    expect(chaos.log).toEqual(log);
  });

  it("is killed at most twice, so that a Retry of the state machine succeeds", async () => {
    const clock = virtualClock();
    const invokeLambda: InvokeObserved = async (_arn, _payload, signal, onBegin) => {
      onBegin?.();
      await clock.sleep(100, signal);
      if (signal?.aborted) throw killedError();
      return answer("done");
    };
    const always = [TOGETHER, HEAR_FIRST, ...KILL_FIRST];
    let draw = 0;
    const random = () => always[draw++ % always.length] as number;
    const chaos = withChaos(invokeLambda, { seed: 1, random, clock });
    const state = {
      Type: "Task",
      Resource: FUNCTION,
      Retry: [{ ErrorEquals: ["States.ALL"], MaxAttempts: 2 }],
      End: true,
    };
    const definition = { StartAt: "S", States: { S: state } };
    const result = await runStateMachine(definition, {}, { invokeLambda: chaos.invokeLambda, clock });
    expect(result).toMatchObject({ status: "SUCCEEDED", output: "done" });
    expect(result.events.filter(({ type }) => type === "LambdaFunctionFailed")).toHaveLength(2);
  });

  it("is delivered once and without faults if `shouldTouch` returns false for its function", async () => {
    let calls = 0;
    const invokeLambda: InvokeObserved = async () => answer(++calls);
    const chaos = withChaos(invokeLambda, {
      seed: 1,
      shouldTouch: (arn) => !arn.endsWith(":work"),
      clock: virtualClock(),
    });
    await chaos.invokeLambda(FUNCTION, "{}");
    await chaos.settled();
    expect(calls).toBe(1);
  });

  it("has the same faults for the same seed and other faults for another seed", async () => {
    const story = async (seed: number) => {
      const clock = virtualClock();
      const log: string[] = [];
      const invokeLambda: InvokeObserved = async (_arn, payload, signal, onBegin) => {
        onBegin?.();
        await clock.sleep(50, signal);
        log.push(`${payload} ${signal?.aborted} ${clock.now()}`);
        return answer(null);
      };
      const chaos = withChaos(invokeLambda, { seed, clock });
      for (let task = 0; task < 10; task++) await chaos.invokeLambda(FUNCTION, String(task));
      await chaos.settled();
      return log;
    };
    expect(await story(7)).toEqual(await story(7));
    expect(await story(7)).not.toEqual(await story(8));
    expect(await story(7)).toHaveLength(20);
  });
});
