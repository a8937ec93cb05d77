import { restart, test } from "./again.ts";
import { find, read, validate } from "./definitions.ts";
import { edit, publish } from "./drafts.ts";
import { run, runs, trace } from "./runs.ts";
import { answer, tasks } from "./tasks.ts";

export const tools = [find, read, validate, edit, publish, run, runs, trace, tasks, answer, restart, test];
