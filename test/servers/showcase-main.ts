/** A hall with the showcase toolkit on stdio. `clients.test.ts` bundles it against the built library. */
import { createHall, createStdioChannel } from "../../src/index.ts";
import { createShowcase } from "./showcase.ts";

const showcase = createShowcase();
const hall = await createHall({ toolkits: [showcase], hasOwnResources: false });
const connection = hall.server.accept(
  createStdioChannel(process.stdin, process.stdout, { messageBytesMax: 1_000_000 }),
);
// Something always changes, for those who listen.
const changes = setInterval(() => {
  for (const kind of ["tools", "resources", "prompts"] as const) showcase.change(kind);
  showcase.touch("showcase://text");
}, 200);
await connection.closed;
clearInterval(changes);
await hall.close();
