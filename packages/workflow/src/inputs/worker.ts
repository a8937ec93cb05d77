import { serve } from "../deadline/deadline-worker.ts";

/**
 * URL of this module, which is the code of a thread. `within-time.ts` imports it dynamically, so that a bundler keeps
 * it as a separate file.
 */
export const address = import.meta.url;

serve("schemas", () => import("./validate.ts"));
