/**
 * The folder that `shelf.ts` reads. A bundler copies it from `from`, in this package, to `to`, relative to the bundle.
 */
export const carried = { readBy: "src/knowledge/shelf.ts", from: "src/knowledge/shelf", to: "shelf" };
