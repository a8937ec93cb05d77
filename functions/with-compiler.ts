import { provideCompiler } from "./service-app.ts";

/** Loads the compiler. It is large and most requests do not need it, so the first request that needs it loads it. */
const sent = () => import("@nova/compiler/sent");

provideCompiler({
  compile: async (...definition) => (await sent()).compileSent(...definition),
  findLookedUpKeys: async (...definition) => (await sent()).keysLookedUpSent(...definition),
  checkCode: async (...code) => (await sent()).checkCodeSent(...code),
});
