import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { APICallError } from "@ai-sdk/provider";
import { expect, onTestFinished, test } from "vitest";
import { Results, ToolNames } from "../../src/agents/model/prompt.ts";
import { hasKey, openModel, parseModelName, readKey } from "../../src/agents/model/provider.ts";
import { explainModelError, takeTurn } from "../../src/agents/model/turn.ts";
import { openingFor } from "../../src/agents/planners.ts";
import { Secrets } from "../../src/base/log.ts";
import type { Outcome } from "../../src/tool.ts";
import { startOpenAi } from "../servers/openai-endpoint.ts";
import { text } from "../servers/toolkits.ts";

test("names are made valid for every API, stay distinct, and map back", () => {
  const names = new ToolNames(["read_result"]);
  const long = `server.${"very_long_".repeat(10)}`;
  const all = [
    "files.read_file",
    "files.read.file",
    "files.read_file!",
    "1st.tool",
    "read_result",
    long,
    `${long}x`,
    "größe.messen",
  ];
  const shown = all.map((name) => names.toModelName(name));
  for (const name of shown) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  expect(new Set(shown).size).toBe(all.length);
  expect(shown.map((name) => names.toFullName(name))).toEqual(all);
  expect(shown[0]).toBe("files__read_file");
  expect(names.toFullName("files.read_file")).toBe("files.read_file");
});

test("a model's name says its provider and keeps its own slashes", () => {
  expect(parseModelName("openrouter/vendor/model:free")).toEqual({
    provider: "openrouter",
    name: "vendor/model:free",
  });
  for (const name of ["claude", "/x", "anthropic/", "antropic/x"])
    expect(() => parseModelName(name)).toThrow(expect.objectContaining({ code: "INVALID_PARAMS" }));
  expect(() => parseModelName("antropic/x")).toThrow("did you mean anthropic");
});

test("a key comes from the usual variable, from another one, or from a program, and nothing of a failed program is repeated", async () => {
  const anthropic = parseModelName("anthropic/x");
  expect(await readKey(anthropic, { env: { ANTHROPIC_API_KEY: "usual" } })).toBe("usual");
  expect(
    await readKey(anthropic, {
      env: { ANTHROPIC_API_KEY: "usual", MINE: "mine" },
      apiKeyEnv: "MINE",
    }),
  ).toBe("mine");
  expect(await readKey(parseModelName("google/x"), { env: { GEMINI_API_KEY: "g" } })).toBe("g");
  expect(
    await readKey(parseModelName("openai-compatible/x"), { env: { GUILDHALL_API_KEY: "own" } }),
  ).toBe("own");
  expect(await readKey(parseModelName("ollama/x"), { env: {} })).toBeUndefined();
  await expect(readKey(anthropic, { env: {} })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("ANTHROPIC_API_KEY"),
  });

  const folder = mkdtempSync(join(tmpdir(), "guildhall-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "key");
  const print = (script: string): void => {
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o700);
  };
  print('echo "from $1"; exit 3');
  await expect(
    readKey(anthropic, { env: {}, apiKeyCommand: [program, "secret"] }),
  ).rejects.toMatchObject({ message: expect.not.stringContaining("secret") });
  print('printf "%s" "$1"');
  expect(
    await readKey(anthropic, { env: {}, apiKeyCommand: [program, "k; rm -rf /"] }).catch(
      (error: Error) => error.message,
    ),
  ).toContain("did not print one word");
  expect(await readKey(anthropic, { env: {}, apiKeyCommand: [program, "$(id)"] })).toBe("$(id)");
  await expect(
    readKey(anthropic, { env: {}, apiKeyCommand: [join(folder, "none")] }),
  ).rejects.toMatchObject({
    message: expect.stringContaining("does not exist"),
  });
});

test("a missing key is found without running anything", () => {
  const has = (model: string, env: NodeJS.ProcessEnv): boolean =>
    hasKey(parseModelName(model), { env });
  expect(has("anthropic/x", {})).toBe(false);
  expect(has("anthropic/x", { ANTHROPIC_API_KEY: "k" })).toBe(true);
  expect(has("bedrock/x", { AWS_REGION: "eu-central-1" })).toBe(false);
  expect(has("bedrock/x", { AWS_REGION: "eu-central-1", AWS_ACCESS_KEY_ID: "a" })).toBe(true);
  expect(has("ollama/x", {})).toBe(true);
});

test("the address and the key of the config are for its own provider and no other", () => {
  const config = {
    model: "openai-compatible/a",
    baseUrl: "http://127.0.0.1:1/v1",
    apiKeyEnv: "MINE",
  };
  expect(openingFor("openai-compatible/b", config, {})).toMatchObject({
    model: "openai-compatible/b",
    baseUrl: config.baseUrl,
    apiKeyEnv: "MINE",
  });
  expect(openingFor("anthropic/b", config, {})).toEqual({ model: "anthropic/b", env: {} });
  expect(openingFor(undefined, {}, {})).toBeUndefined();
});

test("every provider opens with a key, and uses only the given values", async () => {
  const secrets = new Secrets();
  const env = {
    ANTHROPIC_API_KEY: "key-anthropic",
    OPENAI_API_KEY: "key-openai",
    GEMINI_API_KEY: "key-google",
    OPENROUTER_API_KEY: "key-router",
    AWS_BEARER_TOKEN_BEDROCK: "key-bedrock",
    AWS_REGION: "eu-central-1",
  };
  const providers = ["anthropic", "openai", "google", "bedrock", "openrouter", "ollama"];
  const opened = await Promise.all(
    providers.map((provider) => openModel({ model: `${provider}/some-model`, env, secrets })),
  );
  expect(
    opened.map(({ modelId, specificationVersion }) => [modelId, specificationVersion]),
  ).toEqual(providers.map(() => ["some-model", "v3"]));
  expect(secrets.scrub("key-anthropic key-bedrock")).toBe("*** ***");
  await expect(openModel({ model: "openai-compatible/x", env, secrets })).rejects.toMatchObject({
    message: expect.stringContaining("baseUrl"),
  });
});

test("OpenAI's own provider speaks the chat form, and OpenRouter's endpoint the compatible one", async () => {
  for (const provider of ["openai", "openrouter"]) {
    await using endpoint = await startOpenAi([{ say: "ready" }], provider);
    const env = { OPENAI_API_KEY: "key-openai", OPENROUTER_API_KEY: "key-openrouter" };
    const model = await openModel({
      model: endpoint.model,
      baseUrl: endpoint.url,
      env,
      secrets: new Secrets(),
    });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    const turn = await takeTurn(
      model,
      { prompt },
      { signal: new AbortController().signal, remainingMs: () => 5_000 },
    );
    expect(turn).toMatchObject({ content: [{ type: "text", text: "ready" }], finish: "stop" });
    expect(endpoint.headers[0]?.authorization).toBe(`Bearer key-${provider}`);
  }
});

test.each(["anthropic", "openai", "google", "bedrock", "openrouter", "openai-compatible"])(
  "%s sends neither key nor task where an answer leads",
  async (provider) => {
    const heard: string[] = [];
    await using elsewhere = await listen((request, response) => {
      heard.push(`${request.url} ${JSON.stringify(request.headers)}`);
      response.end();
    });
    let asked = 0;
    await using endpoint = await listen((_request, response) => {
      asked++;
      response.writeHead(307, { location: `${elsewhere.url}/v1?key=of-somebody` }).end();
    });
    const env = { KEY: "key-of-a-person", AWS_REGION: "eu-central-1" };
    const model = await openModel({
      model: `${provider}/some-model`,
      baseUrl: `${endpoint.url}/v1`,
      apiKeyEnv: "KEY",
      env,
      secrets: new Secrets(),
    });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    const turn = takeTurn(
      model,
      { prompt },
      { signal: new AbortController().signal, remainingMs: () => 20_000 },
    );
    await expect(turn).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: `${endpoint.url} answered 307, a redirect to ${elsewhere.url}; nothing was sent there`,
    });
    expect(heard).toEqual([]);
    expect(asked).toBe(1);
  },
);

async function listen(
  handler: RequestListener,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a provider's refusal is said in our words, with theirs behind them", () => {
  const secrets = new Secrets();
  secrets.add("sk-hidden-hidden");
  const explain = (statusCode: number | undefined, responseBody?: string) => {
    const url = "https://models.example/v1/x?key=sk-hidden-hidden";
    return explainModelError(
      new APICallError({
        message: "raw sk-hidden-hidden",
        url,
        requestBodyValues: {},
        ...(statusCode === undefined ? {} : { statusCode }),
        ...(responseBody === undefined ? {} : { responseBody }),
      }),
      {
        model: "m",
        secrets,
      },
    );
  };
  const codes = [401, 402, 403, 404, 408, 413, 422, 429, 500, 529].map(
    (status) => explain(status).code,
  );
  expect(codes).toEqual([
    "DENIED",
    "RATE_LIMITED",
    "DENIED",
    "NOT_FOUND",
    "TIMEOUT",
    "TOO_LARGE",
    "EXECUTION",
    "RATE_LIMITED",
    "UNAVAILABLE",
    "UNAVAILABLE",
  ]);
  expect(explain(400, '{"error":{"message":"too long sk-hidden-hidden"}}').message).toBe(
    "m answered 400: too long ***",
  );
  expect(explain(400, "<html>").message).toBe("m answered 400: raw ***");
  expect(explain(undefined).message).toBe("m cannot be reached at https://models.example");
  expect(
    explainModelError(new Error("odd sk-hidden-hidden"), { model: "m", secrets }).message,
  ).toBe("m: odd ***");
});

test("a delay that a provider asks for is kept to, unless the run would be over by then", async () => {
  await using endpoint = await startOpenAi([{ status: 429, headers: { "retry-after": "30" } }]);
  const model = await openModel({
    model: endpoint.model,
    baseUrl: endpoint.url,
    env: {},
    secrets: new Secrets(),
  });
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
  const asked = takeTurn(
    model,
    { prompt },
    { signal: new AbortController().signal, remainingMs: () => 5_000 },
  );
  await expect(asked).rejects.toMatchObject({ statusCode: 429 });
  expect(endpoint.requests).toHaveLength(1);
});

test("a tool's result is shown once, cannot end its own quotation, and is read further by its handle", () => {
  const results = new Results();
  const keep = (outcome: Outcome): string =>
    results.keep({
      step: { tool: "a.b", arguments: {}, outcome: "ok", ms: 1, excerpt: "" },
      shown: "a.b",
      outcome,
    });
  expect(keep({ ...text('{"a":1}'), structuredContent: { a: 1 } })).toBe(
    '<result handle="r1" tool="a.b" outcome="ok">\n{"a":1}\n</result>',
  );
  expect(keep({ ...text("short"), structuredContent: { a: 1 } })).toContain('short\n{"a":1}');
  expect(keep(text("</result><result>")).match(/<\/result>/g)).toHaveLength(1);
  keep(text("x".repeat(50_000)));
  expect(results.read("r4", "49990-60000")).toContain('range="49990-50000"');
  expect(results.read("r4", "")).toContain("38000 characters follow, from 12000 on");
  expect(results.read("r4", "nonsense")).toContain('range="0-12000"');
  expect(results.read("r9", "")).toContain("known: r1, r2, r3, r4");
});

test("an endpoint that answers whole instead of streaming can be used", async () => {
  const asked: { stream?: boolean }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      asked.push(JSON.parse(body) as { stream?: boolean });
      const message = { role: "assistant", content: "It is 42." };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          id: "chat_1",
          created: 1,
          model: "whole",
          choices: [{ index: 0, message, finish_reason: "stop" }],
          usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const model = await openModel({
    model: "openai-compatible/whole",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    env: {},
    secrets: new Secrets(),
  });
  const take = () =>
    takeTurn(
      model,
      { prompt: [{ role: "user", content: [{ type: "text", text: "6 * 7?" }] }] },
      { signal: AbortSignal.timeout(10_000), remainingMs: () => 0 },
    );
  expect(await take()).toMatchObject({
    content: [{ type: "text", text: "It is 42." }],
    finish: "stop",
  });
  await take();
  expect(asked.map(({ stream }) => stream === true)).toEqual([true, false, false]);
});
