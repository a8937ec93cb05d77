import { provideCompiler } from "./service-app.ts";

/**
 * Loads the compiler, which is large. Most requests need no compiler, so it is loaded at the first request that needs
 * it.
 */
const sent = () => import("@nova/compiler/sent");

provideCompiler({
  compile: async (...definition) => (await sent()).compileSent(...definition),
  findLookedUpKeys: async (...definition) => (await sent()).keysLookedUpSent(...definition),
  checkCode: async (...code) => (await sent()).checkCodeSent(...code),
});
