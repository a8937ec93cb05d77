import { serve } from "../deadline/deadline-worker.ts";

/** URL of this module. `within-time.ts` imports it dynamically, so a bundler keeps it as a separate file. */
export const address = import.meta.url;

serve("schemas", () => import("./validate.ts"));
