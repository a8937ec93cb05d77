import { configOf } from "./stacks/sst.ts";
import { stacks } from "./stacks/stacks.ts";

export default configOf("nova", process.env.AWS_REGION ?? "us-east-1", stacks);
