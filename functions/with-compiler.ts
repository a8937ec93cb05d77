import { compileSent } from "@nova/compiler/sent";
import { provideCompiler } from "./service-app.ts";

provideCompiler(compileSent);
