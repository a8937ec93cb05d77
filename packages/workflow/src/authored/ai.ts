import { z } from "zod";
import { flag } from "./fields.ts";
import { modelChoice } from "./model.ts";
import { NetworkAllow } from "./network.ts";

const costError = "must be US dollars, more than 0";

/** What a prompt node and a whole workflow have alike; `whose` ends the descriptions that differ. */
export function aiFields(whose: { model: string; limits: string; ai: string; network: string }) {
  return {
    model: modelChoice(
      `Model of ${whose.model}: an id for every role, or an object with ids for some of \`input_analyzer\`, \`data_analyzer\`, \`code_generator\`, \`output_validator\`.`,
    ).optional(),
    limits: z
      .strictObject(
        { max_cost_usd: z.number({ error: costError }).positive({ error: costError }).describe("US dollars.") },
        { error: 'must be an object such as { "max_cost_usd": 0.5 }' },
      )
      .describe(
        `\`max_cost_usd\`: what the models of ${whose.limits} may cost, in US dollars. Checked before each call.`,
      )
      .optional(),
    ai: z
      .strictObject(
        { samples: flag("Whether a model may see short samples of values.") },
        { error: 'must be an object such as { "samples": false }' },
      )
      .describe(`\`samples\`: whether a model sees short samples of values besides names and types. ${whose.ai}`)
      .optional(),
    network: z
      .strictObject(
        { allow: NetworkAllow },
        { error: 'must be an object such as { "allow": ["imap.example.com:993"] }' },
      )
      .describe(`\`allow\`: the hosts that ${whose.network}, as \`host\` or \`host:port\`; see Network.`)
      .optional(),
  };
}
