export { llmsFull, llmsIndex } from "./pages.ts";
export { answerMcp, createMcpServer, type Doors, tools } from "./server.ts";
export type { Caller } from "./tool.ts";
