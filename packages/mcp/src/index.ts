export { llmsFull, llmsIndex } from "./pages.ts";
export { answerMcp, createMcpServer, type Doors } from "./server.ts";
export type { Caller } from "./tool.ts";
export { tools } from "./tools/all.ts";
