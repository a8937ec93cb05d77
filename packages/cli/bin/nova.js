#!/usr/bin/env node
// This file is plain JavaScript, so that any version of Node can run it. The sources need Node 24, which npm installs
// with NOVA.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import process from "node:process";
import { setFlagsFromString } from "node:v8";

const wanted = 24;
const home = new URL("../../../", import.meta.url).href;
/** The locations of packages, by the name with which NOVA's modules import the package. */
const packages = new Map();

if (Number(process.versions.node.split(".")[0]) >= wanted) {
  const { enableCompileCache, registerHooks } = await import("node:module");
  enableCompileCache();
  registerHooks({ resolve });
  // Ruff's WebAssembly has 10 MB and runs for milliseconds. To optimise the WebAssembly would take longer than to run
  // it.
  for (const flag of ["--no-wasm-dynamic-tiering", "--no-wasm-tier-up", "--liftoff-only", "--wasm-lazy-validation"])
    setFlagsFromString(flag);
  const { main } = await import("../src/main.ts");
  await main(process.argv.slice(2));
} else {
  runUnder(installedNode());
}

/** Caches module locations, because Node's own resolution takes longer than loading. */
function resolve(specifier, context, next) {
  const { parentURL = "", conditions } = context;
  const isOwn = parentURL.startsWith(home) && !parentURL.includes("/node_modules/");
  // NOVA's modules import each other by file name. The name of a package means the same package in all of these
  // modules.
  if (isOwn && specifier.startsWith(".") && specifier.endsWith(".ts"))
    return { url: new URL(specifier, parentURL).href, format: "module-typescript", shortCircuit: true };
  if (isOwn && /^@?[a-z]/.test(specifier) && conditions.includes("import")) {
    if (!packages.has(specifier)) packages.set(specifier, { ...next(specifier, context), shortCircuit: true });
    return packages.get(specifier);
  }
  // If E2B's SDK does not find the package undici, it uses Node's own HTTP client, which starts faster.
  const isClient = specifier === "undici" || specifier === "undici8";
  if (isClient && parentURL.includes("/node_modules/e2b/")) throw new Error("Node has a client itself");
  return next(specifier, context);
}

function installedNode() {
  try {
    return createRequire(import.meta.url).resolve("node/bin/node");
  } catch {
    process.stderr.write(`nova needs Node ${wanted} and this is ${process.version} - run npm ci, which installs it\n`);
    process.exit(2);
  }
}

function runUnder(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: "inherit" });
  // Forwards signals to the child, which tolerates a second Ctrl-C.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}
