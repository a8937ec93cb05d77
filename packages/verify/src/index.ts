export type { Code, Problem } from "./chain.ts";
export { type Trusted, type Verdict, verifyProof } from "./verify.ts";
