import { compileSent } from "@nova/compiler/sent";
import { keysLookedUp } from "@nova/python";
import { provideCompiler } from "./service-app.ts";

provideCompiler({ compile: compileSent, keysLookedUp: async (code) => keysLookedUp(code) });
