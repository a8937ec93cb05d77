import { DeadlineWorker } from "../../../../packages/workflow/src/deadline/deadline-worker.ts";
import { address } from "./served.ts";

const thread = new DeadlineWorker({ name: "served", address: async () => address, deadlineMs: 5000 });
process.stdout.write(await thread.call<string>("again", "answered"));
