import { serve } from "../deadline/serve.ts";

/** This file, or what a bundler made of it: a file of its own, since `within-time.ts` imports it dynamically. */
export const address = import.meta.url;

serve("schemas", () => import("./validate.ts"));
