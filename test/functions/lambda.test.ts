import { beforeEach, describe, expect, it, vi } from "vitest";
import { lambda, loadSecrets } from "../../functions/lambda.ts";

const warn = vi.hoisted(() => vi.fn());
vi.mock("../../functions/app.ts", () => ({ logger: { warn }, warmPorts: () => "the ports" }));

beforeEach(() => warn.mockClear());

const context = (remainingMs: number) => ({ awsRequestId: "r-1", getRemainingTimeInMillis: () => remainingMs });

describe("the wrapper around the handler of a Lambda function", () => {
  it("passes the ports of the process to the handler, and returns the answer of the handler", async () => {
    const handler = lambda(async (ports, event: { n: number }) => ({ ports, n: event.n + 1 }));
    expect(await handler({ n: 1 }, context(900_000))).toEqual({ ports: "the ports", n: 2 });
  });

  it("aborts its signal ten seconds before the Lambda's timeout", async () => {
    vi.useFakeTimers();
    try {
      const handler = lambda(async (_ports, _event: object, signal) => {
        const before = signal.aborted;
        await vi.advanceTimersByTimeAsync(50_000 - 1);
        const almost = signal.aborted;
        await vi.advanceTimersByTimeAsync(1);
        return [before, almost, signal.aborted];
      });
      expect(await handler({}, context(60_000))).toEqual([false, false, true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("keeps the name of an error, by which Retry and Catch of the state machine recognise the error", async () => {
    const failure = Object.assign(new RangeError("no sandbox"), { name: "SandboxUnavailable" });
    const handler = lambda(async () => Promise.reject(failure));
    await expect(handler({}, context(900_000))).rejects.toMatchObject({ name: "SandboxUnavailable" });
  });
});

describe("the secrets of a Lambda function", () => {
  it("cause no request if no environment variable names a parameter with a secret", async () => {
    const read = vi.fn();
    const variables = { E2B_API_KEY: "from the laptop" };
    await loadSecrets(variables, read);
    expect(read).not.toHaveBeenCalled();
    expect(variables).toEqual({ E2B_API_KEY: "from the laptop" });
  });

  it("are read with one request, and set as the environment variables that the SDKs use", async () => {
    const read = vi.fn(
      async () =>
        new Map([
          ["/nova/prod/e2b", "e2b_1"],
          ["/nova/prod/openai", "sk-1"],
        ]),
    );
    const variables: NodeJS.ProcessEnv = {
      E2B_API_KEY_PARAMETER: "/nova/prod/e2b",
      OPENAI_API_KEY_PARAMETER: "/nova/prod/openai",
    };
    await loadSecrets(variables, read);
    expect(read.mock.calls).toEqual([[["/nova/prod/e2b", "/nova/prod/openai"]]]);
    expect(variables).toMatchObject({ E2B_API_KEY: "e2b_1", OPENAI_API_KEY: "sk-1" });
  });

  it("are set even if one of their parameters is missing, and a warning names that parameter", async () => {
    const variables: NodeJS.ProcessEnv = { OPENAI_API_KEY_PARAMETER: "/nova/prod/openai" };
    await loadSecrets(variables, async () => new Map());
    expect(variables).not.toHaveProperty("OPENAI_API_KEY");
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("/nova/prod/openai"), {
      variable: "OPENAI_API_KEY",
    });
  });
});

describe("the secrets of a Lambda function that runs several times", () => {
  it("are read a second time after a failure, and only once after a success", async () => {
    vi.resetModules();
    const read = vi
      .fn()
      .mockRejectedValueOnce(new Error("unreachable"))
      .mockResolvedValueOnce(new Map([["/e2b", "e2b_1"]]));
    vi.doMock("@nova/aws/parameters", () => ({ readParameters: read }));
    vi.stubEnv("E2B_API_KEY_PARAMETER", "/e2b");
    vi.stubEnv("E2B_API_KEY", undefined);
    try {
      const { warmSecrets } = await import("../../functions/lambda.ts");
      await expect(warmSecrets()).rejects.toThrow("unreachable");
      await Promise.all([warmSecrets(), warmSecrets()]);
      await warmSecrets();
      expect(read).toHaveBeenCalledTimes(2);
      expect(process.env.E2B_API_KEY).toBe("e2b_1");
    } finally {
      vi.unstubAllEnvs();
      vi.doUnmock("@nova/aws/parameters");
    }
  });
});
