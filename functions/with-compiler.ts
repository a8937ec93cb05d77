import { compileSent, keysLookedUpSent } from "@nova/compiler/sent";
import { provideCompiler } from "./service-app.ts";

provideCompiler({ compile: compileSent, findLookedUpKeys: keysLookedUpSent });
