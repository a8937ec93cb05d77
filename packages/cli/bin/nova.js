#!/usr/bin/env node
// Plain JavaScript for any Node: the sources need Node 24, which npm installs beside them.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import process from "node:process";
import { setFlagsFromString } from "node:v8";

const wanted = 24;
const home = new URL("../../../", import.meta.url).href;
/** Where packages are that NOVA's own modules name. */
const packages = new Map();

if (Number(process.versions.node.split(".")[0]) >= wanted) {
  const { enableCompileCache, registerHooks } = await import("node:module");
  enableCompileCache();
  registerHooks({ resolve });
  // The checker of Python is 10 MB of WebAssembly that runs for milliseconds: optimising it takes longer than that.
  for (const flag of ["--no-wasm-dynamic-tiering", "--no-wasm-tier-up", "--liftoff-only", "--wasm-lazy-validation"])
    setFlagsFromString(flag);
  const { main } = await import("../src/main.ts");
  await main(process.argv.slice(2));
} else {
  runUnder(installedNode());
}

/** Node looks for a module again for each module that names it, which takes longer than loading it. */
function resolve(specifier, context, next) {
  const { parentURL = "", conditions } = context;
  const isOwn = parentURL.startsWith(home) && !parentURL.includes("/node_modules/");
  // NOVA's own modules name each other by their files, and packages mean the same to all of them.
  if (isOwn && specifier.startsWith(".") && specifier.endsWith(".ts"))
    return { url: new URL(specifier, parentURL).href, format: "module-typescript", shortCircuit: true };
  if (isOwn && /^@?[a-z]/.test(specifier) && conditions.includes("import")) {
    if (!packages.has(specifier)) packages.set(specifier, { ...next(specifier, context), shortCircuit: true });
    return packages.get(specifier);
  }
  // E2B's SDK loads an HTTP client at its first request, and takes that of Node where it finds none, as when it is bundled.
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
  // Whoever signals this process means the other one, which takes it in its stride when Ctrl-C has reached both.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}
