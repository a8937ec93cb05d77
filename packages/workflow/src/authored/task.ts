import { z } from "zod";
import { longestNodeSeconds } from "../long-node.ts";
import { aiFields } from "./ai.ts";
import { credentialNames } from "./credentials.ts";
import { filledText, flag, NodeId, seconds } from "./fields.ts";
import { AuthoredRetry } from "./retry.ts";

/** What a node has whose code runs in a sandbox. */
export const taskFields = {
  executor: z
    .enum(["code", "prompt", "text", "e2b", "cached"], { error: 'must be "code" or "prompt"' })
    .describe(
      "Who does the work: `code` is Python written by hand, `prompt` Python that a model writes. `e2b` and `cached` are older names of the two; `text` is reserved.",
    )
    .default("code"),
  code: filledText("Python source. Exactly one of `code` and `codeFile`.").optional(),
  codeFile: filledText("Python file inside of the workflow's folder, such as `extract.py`.").optional(),
  prompt: filledText("What a model is asked to do; for the executor `prompt`.").optional(),
  promptFile: filledText("File with the prompt, inside of the workflow's folder, such as `extract.md`.").optional(),
  ...aiFields({
    model: "a prompt node; roles that it leaves out have the workflow's",
    limits: "one run of a prompt node",
    ai: "Absent: as the workflow says.",
    network: "the node's code can connect to, besides the workflow's and those of its credentials",
  }),
  timeout: seconds(
    { min: 1, max: longestNodeSeconds },
    "Limit of one run in the sandbox, in seconds: 1 to 86400, default 60; of a prompt node 1 to 600, default 30. Above 840 no Lambda waits for the code; see Long nodes.",
  ).optional(),
  effects: flag(
    "What the code does outside (sends a mail, writes a row), which decides what NOVA may do by itself. `true`: code that has begun is never run again. " +
      "`false`: it changes nothing, so a lost machine repeats it, and its results may be used again. Absent: lost machines repeat nothing, a model's attempts may. What you want repeated yourself is `retry`.",
  ).optional(),
  onError: NodeId.describe("Node to go on with when this one fails, instead of failing the run.").optional(),
  retry: AuthoredRetry.optional(),
  credentials: credentialNames("the node's code gets. Absent: as the workflow says.").optional(),
  isolation: z
    .literal("fresh", { error: 'must be "fresh", or be left out' })
    .describe("`fresh` gives the node a sandbox of its own, which no later node uses.")
    .optional(),
};
