import type { SSTConfig } from "sst";
import { defineStacks } from "./stacks/stacks.ts";

export default {
  config: () => ({ name: "nova", region: process.env.AWS_REGION ?? "us-east-1" }),
  stacks(app) {
    defineStacks(app);
  },
} satisfies SSTConfig;
