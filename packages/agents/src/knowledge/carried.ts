/** What `shelf.ts` reads beside itself: who bundles it lays it there, from the folder of the bundle on. */
export const carried = { readBy: "src/knowledge/shelf.ts", from: "src/knowledge/shelf", to: "shelf" };
