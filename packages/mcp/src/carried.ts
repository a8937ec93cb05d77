/** The files that `pages.ts` reads. A bundler must copy them to the same paths relative to the bundle. */
export const carried = [
  { readBy: "src/pages.ts", from: "llms.txt", to: "../llms.txt" },
  { readBy: "src/pages.ts", from: "llms-full.txt", to: "../llms-full.txt" },
];
