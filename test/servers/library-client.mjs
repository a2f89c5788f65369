// Prints the answers that a library for agents gets from a hall, as JSON:
// `node library-client.mjs LIBRARY LANE COMMAND ARG...`. The hall
// offers the server "box" (faulty.mjs with image, progress, hang, told, resources and prompts).
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [library, lane, command, ...args] = process.argv.slice(2);
const require = createRequire(`${lane}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const server = { command, args, cwd: process.cwd(), env: process.env };

/** Calls until the signal ends it; true if the call ended with it. */
async function isCancelled(call) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 500);
  return call(controller.signal).then(
    () => false,
    () => true,
  );
}

const clients = {
  async "@ai-sdk/mcp"() {
    const { experimental_createMCPClient, createMCPClient } = await load("@ai-sdk/mcp");
    const stdio = await load("@ai-sdk/mcp/mcp-stdio");
    const Transport = stdio.Experimental_StdioMCPTransport ?? stdio.StdioMCPTransport;
    const create = createMCPClient ?? experimental_createMCPClient;
    const client = await create({ transport: new Transport(server) });
    const tools = await client.tools();
    const call = (name, given = {}, more = {}) =>
      tools[name].execute(given, { toolCallId: "1", messages: [], ...more });
    const found = {
      tools: Object.keys(tools),
      said: await call("box__echo", { text: "hi" }),
      image: await call("box__image"),
      error: await call("box__told"),
      cancelled: await isCancelled((abortSignal) => call("box__hang", {}, { abortSignal })),
      resource: await client.readResource({ uri: "note://1" }),
      prompt: await client.experimental_getPrompt({
        name: "box__greet",
        arguments: { who: "Ada" },
      }),
    };
    await client.close();
    return found;
  },
  async "@langchain/mcp-adapters"() {
    const { MultiServerMCPClient } = await load("@langchain/mcp-adapters");
    const progress = [];
    const client = new MultiServerMCPClient({
      mcpServers: { hall: { transport: "stdio", ...server } },
      useStandardContentBlocks: false,
      onProgress: (update) => progress.push(update.progress),
    });
    const tools = await client.getTools();
    const call = (name, given = {}, more = {}) =>
      tools.find((tool) => tool.name.endsWith(name)).invoke(given, more);
    const found = {
      tools: tools.map(({ name }) => name),
      said: await call("box__echo", { text: "hi" }),
      image: await call("box__image"),
      error: await call("box__told").catch((error) => error.message),
      cancelled: await isCancelled((signal) => call("box__hang", {}, { signal })),
      resource: await client.readResource("hall", "note://1"),
    };
    await call("box__progress");
    const session = await client.getClient("hall");
    found.prompt = await session.getPrompt({ name: "box__greet", arguments: { who: "Ada" } });
    found.progress = progress;
    await client.close();
    return found;
  },
};

process.stdout.write(`${JSON.stringify(await clients[library]())}\n`);
process.exit(0);
