/** What `import … from "guildhall"` gives. */
export { createHall, type Hall, type HallOptions } from "./app.ts";
export { type ErrorCode, HallError } from "./base/errors.ts";
export type { CallContext, Outcome, Question, Questions, Tool, Toolkit } from "./tool.ts";
export type { Channel } from "./wire/channel.ts";
export { createMemoryPair } from "./wire/memory.ts";
export { createStdioChannel } from "./wire/stdio.ts";
