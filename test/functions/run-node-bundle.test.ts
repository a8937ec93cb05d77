// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { type Execution, readTrace, startExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entryOf, inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { deployedBundle } from "../support/deployed-bundle.ts";
import { callInFreshProcess } from "../support/lambda-process.ts";
import { type Exchange, modelServer } from "../support/model-server/model-server.ts";
import { refusingServer } from "../support/refusing-server.ts";

describe("the deployed nova-run-node", () => {
  it("ends if it cannot read its keys, and sends no other request", async () => {
    await using aws = await refusingServer();
    const { file, variables } = await deployedBundle("nova-run-node");
    const account = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
    const event = { execution: { id: "exec_1", workflowId: "hello", version: 1 }, scope: "", seq: 0, node: "greet" };
    const told = { ...variables, ...account, AWS_ENDPOINT_URL: aws.url };
    const ended = await callInFreshProcess(file, event, told);
    expect(ended).toMatchObject({ error: { name: "AccessDeniedException" } });
    expect(aws.asked).toEqual(["AmazonSSM.GetParameters"]);
  });

  describe("on a cloud that accepts its requests", () => {
    const good = 'context["discount"] = context["total"] * 0.1';
    const script: Exchange[] = [
      { expect: { role: "input_analyzer" }, answer: { json: { needs_analysis: false, complexity: "simple" } } },
      {
        expect: { role: "code_generator" },
        answer: {
          calls: [{ name: "search_documentation", arguments: { library: "pymupdf", query: "text of a page" } }],
        },
      },
      {
        expect: { role: "code_generator", says: ["get_text"] },
        answer: { json: { code: "context['discount'] = totl" } },
      },
      { expect: { role: "code_generator", says: ["totl"] }, answer: { json: { code: good } } },
      { expect: { role: "output_validator" }, answer: { json: { valid: true, reason: "10 % of the total" } } },
    ];
    let cloud: TestCloud;

    beforeAll(async () => {
      cloud = await openTestCloud();
    });
    afterAll(() => cloud.close());

    /** Records the start of a run, but starts no state machine. */
    async function begin(workflow: object, context: string): Promise<Execution> {
      const version = await cloud.publish(workflow);
      const stateMachines = { ...cloud.ports.stateMachines, start: async () => undefined };
      return startExecution({ ...cloud.ports, stateMachines }, { version, context });
    }

    it("generates, checks and runs the code of a node with only the files of its bundle", async () => {
      await using models = await modelServer(script);
      const { id } = await begin(
        inARow("discount", { work: { executor: "prompt", prompt: "Set discount to 10 % of total." } }),
        '{"total": 50}',
      );
      const event = { execution: { id, workflowId: "discount", version: 1 }, scope: "", seq: 0, node: "work" };
      const ended = await callInFreshProcess((await deployedBundle("nova-run-node")).file, event, {
        ...process.env,
        ...models.environment,
        NOVA_DOCSTRINGS: "",
        NOVA_FROZEN: "false",
      });
      expect(ended).toMatchObject({ answer: { scope: "", seq: 1 } });
      const entry = entryOf(await readTrace(cloud.ports, id, { full: true }));
      expect(entry).toMatchObject({ status: "success", code_executed: good });
    });
  });
});
