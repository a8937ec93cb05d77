import { z } from "zod";
import { longestNodeSeconds } from "../long-node.ts";
import { aiFields } from "./ai.ts";
import { credentialNames } from "./credentials.ts";
import { filledText, flag, NodeId, seconds } from "./fields.ts";

const Retry = z
  .strictObject(
    {
      attempts: z
        .int({ error: "must be 2 or 3" })
        .min(2, { error: "must be 2 or 3" })
        .max(3, { error: "must be 2 or 3" })
        .describe("Runs in all, the first included: 2 or 3."),
      delay: seconds({ min: 0, max: 60 }, "Seconds between two runs, 0 to 60.").default(1),
    },
    { error: 'must be an object such as { "attempts": 2, "delay": 1 }' },
  )
  .describe(
    "Runs failing code again: `attempts` in all, 2 or 3, `delay` seconds apart (0 to 60, default 1). Needs `effects: false`: only code that changes nothing outside may be repeated.",
  );

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
    "Whether the code changes anything outside (sends a mail, writes a row). `true`: code that has begun is never run again. " +
      "`false`: it may be repeated, and its results may be used again. Absent: lost machines repeat nothing, a model's attempts may.",
  ).optional(),
  onError: NodeId.describe("Node to go on with when this one fails, instead of failing the run.").optional(),
  retry: Retry.optional(),
  credentials: credentialNames("the node's code gets. Absent: as the workflow says.").optional(),
  isolation: z
    .literal("fresh", { error: 'must be "fresh", or be left out' })
    .describe("`fresh` gives the node a sandbox of its own, which no later node uses.")
    .optional(),
};
