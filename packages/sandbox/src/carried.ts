/**
 * The folder that `harness-file.ts` reads. A bundler copies it from `from`, in this package, to `to`, relative to the
 * bundle.
 */
export const carried = { readBy: "src/harness-file.ts", from: "python", to: "../python" };
