/** What `harness-file.ts` reads beside itself: who bundles it lays it there, from the folder of the bundle on. */
export const carried = { readBy: "src/harness-file.ts", from: "python", to: "../python" };
