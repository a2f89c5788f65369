// A hall with one toolkit, all stages on. The argument is how many tools it has (default 1).
import { createHall, createStdioChannel } from "../../dist/index.js";
import { createEchoToolkit, createEchoTools } from "./echo-tool.mjs";

const tools = createEchoTools(Number(process.argv[2] ?? 1));
const hall = await createHall({ toolkits: [createEchoToolkit({ tools })] });
const connection = hall.server.accept(
  createStdioChannel(process.stdin, process.stdout, { messageBytesMax: 10 * 1024 * 1024 }),
);
await connection.closed;
await hall.close();
