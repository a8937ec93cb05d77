#!/usr/bin/env node
// Node 24 or later: it runs the TypeScript sources without a build.
import process from "node:process";
import { main } from "../tools/main.ts";

process.exitCode = await main(process.argv.slice(2));
