import { setFlagsFromString } from "node:v8";

// A demo lives for seconds. PostgreSQL and the checker of Python are 20 MB of WebAssembly: to optimise them takes longer.
for (const flag of ["--no-wasm-dynamic-tiering", "--no-wasm-tier-up", "--liftoff-only"]) setFlagsFromString(flag);
