import { provideCompiler } from "./service-app.ts";

/** Loads the compiler, which is large. Most requests need no compiler, so it loads when one first does. */
const sent = () => import("@nova/compiler/sent");

provideCompiler({
  compile: async (...definition) => (await sent()).compileSent(...definition),
  findLookedUpKeys: async (...definition) => (await sent()).keysLookedUpSent(...definition),
});
