import { api } from "./api.ts";
import { console } from "./console.ts";
import { engine } from "./engine.ts";
import { monitoring } from "./monitoring.ts";
import { storage } from "./storage.ts";
import { triggers } from "./triggers.ts";

/** All stacks. Each uses those before it. */
export const stacks = [storage, engine, triggers, api, console, monitoring];
