import { provideCompiler } from "./service-app.ts";

/** Loads the compiler. The compiler is large, and most requests do not need it, so it is loaded at its first use. */
const sent = () => import("@nova/compiler/sent");

provideCompiler({
  compile: async (...definition) => (await sent()).compileSent(...definition),
  findLookedUpKeys: async (...definition) => (await sent()).keysLookedUpSent(...definition),
  checkCode: async (...code) => (await sent()).checkCodeSent(...code),
});
