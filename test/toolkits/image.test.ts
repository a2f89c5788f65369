import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { crc32, inflateSync } from "node:zlib";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Outcome, Toolkit } from "../../src/tool.ts";
import { createImageToolkit } from "../../src/toolkits/image/image.ts";

const ajv = new Ajv({ strict: true });

/** Fills in defaults as the gateway does, and checks every result against the tool's outputSchema. */
async function generate(
  toolkit: Toolkit,
  args: JsonObject,
  scope = new Scope(),
): Promise<{
  text: string;
  advice: JsonObject | undefined;
  bytes: Buffer;
  mimeType: unknown;
  structured: JsonObject;
}> {
  const [tool] = await toolkit.list();
  if (!tool?.outputSchema) throw new Error("no tool with an outputSchema");
  const outcome: Outcome = await toolkit.call(
    tool,
    { style: "realistic", size: "512x512", ...args },
    { scope, progress: () => {}, log: () => {}, ask: async () => ({}) },
  );
  if (!isObject(outcome.structuredContent)) throw new Error("no structuredContent");
  const validate = ajv.compile(tool.outputSchema);
  expect(validate(outcome.structuredContent), ajv.errorsText(validate.errors)).toBe(true);
  const [text, image, advice] = outcome.content;
  expect([text?.type, image?.type]).toEqual(["text", "image"]);
  const bytes = Buffer.from(String(image?.data), "base64");
  expect(outcome.structuredContent).toMatchObject({
    bytes: bytes.length,
    mime_type: image?.mimeType,
  });
  return {
    text: String(text?.text),
    advice,
    bytes,
    mimeType: image?.mimeType,
    structured: outcome.structuredContent,
  };
}

async function failure(work: Promise<unknown>): Promise<HallError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HallError)) throw new Error(`expected a HallError, got ${String(error)}`);
  return error;
}

/** Decodes a PNG independently: checks every chunk's checksum and expects unfiltered rows. */
function readPng(bytes: Buffer): { width: number; height: number; pixels: Buffer } {
  expect(bytes.subarray(0, 8)).toEqual(Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]));
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    expect(bytes.readUInt32BE(at + 8 + length)).toBe(
      crc32(bytes.subarray(at + 4, at + 8 + length)),
    );
    chunks.set(bytes.toString("latin1", at + 4, at + 8), bytes.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(["IHDR", "IDAT", "IEND"]);
  const header = chunks.get("IHDR") ?? Buffer.alloc(0);
  expect([...header.subarray(8)]).toEqual([8, 2, 0, 0, 0]);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const raw = inflateSync(chunks.get("IDAT") ?? Buffer.alloc(0));
  const stride = width * 3;
  expect(raw).toHaveLength((stride + 1) * height);
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const row = raw.subarray(y * (stride + 1), (y + 1) * (stride + 1));
    expect(row[0]).toBe(0);
    row.copy(pixels, y * stride, 1);
  }
  return { width, height, pixels };
}

type Rgb = readonly [number, number, number];
const pixelAt = (
  { width, height, pixels }: ReturnType<typeof readPng>,
  x: number,
  y: number,
): Rgb => {
  const at = (Math.floor(y * height) * width + Math.floor(x * width)) * 3;
  return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
};

const small = { size: "256x256" };
const draw = async (prompt: string, style = "realistic") =>
  readPng((await generate(createImageToolkit(), { prompt, style, ...small })).bytes);

describe("the toolkit", () => {
  test("offers one tool with exactly the documented parameters", async () => {
    const toolkit = createImageToolkit();
    expect(toolkit.id).toBe("image_generator");
    const bare = (schema: JsonObject) =>
      JSON.parse(
        JSON.stringify(schema, (key, value) => (key === "description" ? undefined : value)),
      );
    expect(
      (await toolkit.list()).map(({ name, inputSchema }) => ({
        name,
        inputSchema: bare(inputSchema),
      })),
    ).toEqual([
      {
        name: "generate_image",
        inputSchema: {
          type: "object",
          properties: {
            prompt: { type: "string" },
            style: {
              type: "string",
              enum: ["realistic", "artistic", "cartoon", "abstract"],
              default: "realistic",
            },
            size: { type: "string", enum: ["256x256", "512x512", "1024x1024"], default: "512x512" },
          },
          required: ["prompt"],
        },
      },
    ]);
    expect(await toolkit.health()).toEqual({ state: "available" });
    await toolkit.close();
  });

  test("is idempotent without a provider and open-world with one", async () => {
    const [local] = await createImageToolkit().list();
    const [remote] = await createImageToolkit({ url: "https://images.example.com/v1" }).list();
    expect(local?.annotations).toEqual({
      readOnlyHint: true,
      idempotentHint: true,
      openWorldHint: false,
    });
    expect(remote?.annotations).toEqual({
      readOnlyHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
  });

  test.each([
    [{ prompt: "  " }, "/prompt"],
    [{ prompt: 7 }, "/prompt"],
    [{ prompt: "x".repeat(40_000) }, "/prompt"],
    [{ prompt: "a", style: "baroque" }, "/style"],
    [{ prompt: "a", size: "9x9" }, "/size"],
  ])("%#: invalid arguments are rejected by field", async (args, path) => {
    expect(await failure(generate(createImageToolkit(), args))).toMatchObject({
      code: "VALIDATION",
      details: { errors: [{ path }] },
    });
  });

  test("an unknown tool is NOT_FOUND", async () => {
    const context = {
      scope: new Scope(),
      progress: () => {},
      log: () => {},
      ask: async () => ({}),
    };
    await expect(
      createImageToolkit().call({ name: "etch", inputSchema: {} }, {}, context),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("without a provider", () => {
  test.each(["256x256", "512x512", "1024x1024"])(
    "the placeholder is a PNG of the requested size %s",
    async (size) => {
      const { bytes, mimeType, structured } = await generate(createImageToolkit(), {
        prompt: "a house by the sea",
        size,
      });
      const { width, height } = readPng(bytes);
      expect(`${width}x${height}`).toBe(size);
      expect(mimeType).toBe("image/png");
      expect(structured).toMatchObject({ placeholder: true, style: "realistic", size });
    },
  );

  test("the result says that it is a placeholder and how to set a provider", async () => {
    const { text, advice, structured } = await generate(createImageToolkit(), {
      prompt: "Three red birds over a blue castle",
      ...small,
    });
    expect(text).toBe(
      "Placeholder picture, realistic, 256x256. No image provider is configured: it shows only its colours (red, blue), not what the prompt describes.",
    );
    expect(structured.next).toEqual([{ do: "edit-config", field: "images.url" }]);
    expect(advice).toMatchObject({
      type: "text",
      text: expect.stringMatching(/^Do not present this as the requested picture\..*images\.url/),
      annotations: { audience: ["assistant"] },
    });
  });

  test("the same prompt gives the same picture, another prompt another", async () => {
    const prompts = ["a red house", "A RED HOUSE ", "a blue house", "entropy", "enthalpy"];
    const [first, shouted, blue, entropy, enthalpy] = await Promise.all(
      prompts.map(async (prompt) => (await draw(prompt)).pixels),
    );
    expect(shouted).toEqual(first);
    expect(blue).not.toEqual(first);
    expect(entropy).not.toEqual(enthalpy);
  });

  test("every style draws the same prompt differently", async () => {
    const pictures = await Promise.all(
      ["realistic", "artistic", "cartoon", "abstract"].map(async (style) =>
        (await draw("a boat on the ocean at sunset", style)).pixels.toString("base64"),
      ),
    );
    expect(new Set(pictures).size).toBe(4);
  });

  test("the colours are those of the prompt", async () => {
    const [red, , blueOfRed] = pixelAt(await draw("a red circle"), 0.5, 0.1);
    expect(red).toBeGreaterThan(blueOfRed + 40);
    const [redOfBlue, , blue] = pixelAt(await draw("a blue square"), 0.5, 0.1);
    expect(blue).toBeGreaterThan(redOfBlue + 40);
  });

  test.each([
    "constructor __proto__ hasOwnProperty",
    "🦄🌈",
    "星空の下の猫",
    "a".repeat(30_000),
    "\u0000",
  ])("any prompt gives a picture: %#", async (prompt) => {
    expect((await draw(prompt)).width).toBe(256);
  });

  test("a cancelled drawing stops", async () => {
    const scope = new Scope();
    const drawing = failure(
      generate(createImageToolkit(), { prompt: "a city", size: "1024x1024" }, scope),
    );
    scope.cancel(new HallError("CANCELLED", "withdrawn"));
    expect(await drawing).toMatchObject({ code: "CANCELLED" });
  });
});

/** A small picture, as a provider would send it. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

interface ReceivedRequest {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: JsonObject;
}

interface FakeProvider extends AsyncDisposable {
  readonly url: string;
  readonly requests: ReceivedRequest[];
}

type Respond = (
  requests: ReceivedRequest,
  response: ServerResponse,
  request: IncomingMessage,
) => void;

async function startProvider(respond: Respond): Promise<FakeProvider> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const one: ReceivedRequest = {
        path: request.url,
        authorization: request.headers.authorization,
        body: body ? JSON.parse(body) : {},
      };
      requests.push(one);
      respond(one, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

const env = { IMAGES_KEY: "sk-test-0123456789" };
const withKey = (url: string) =>
  createImageToolkit({ url, model: "painter-1", apiKeyEnv: "IMAGES_KEY", env });

describe("with a provider", () => {
  const keyField = [{ do: "edit-config", field: "images.apiKeyEnv" }];
  const wait = [{ do: "retry-after", seconds: 7 }];

  test("the request follows OpenAI's images API, carries the key, and the picture is passed on", async () => {
    await using provider = await startProvider((_, response) =>
      send(response, 200, {
        created: 1,
        data: [{ b64_json: pixel.toString("base64"), revised_prompt: "a cat, sitting" }],
      }),
    );
    const { text, bytes, mimeType, structured } = await generate(withKey(provider.url), {
      prompt: "a cat",
      style: "cartoon",
      size: "1024x1024",
    });
    expect(provider.requests).toEqual([
      {
        path: "/v1/images/generations",
        authorization: "Bearer sk-test-0123456789",
        body: {
          model: "painter-1",
          prompt: expect.stringMatching(/^a cat\. As a cartoon/),
          n: 1,
          size: "1024x1024",
          response_format: "b64_json",
        },
      },
    ]);
    expect(bytes).toEqual(pixel);
    expect(mimeType).toBe("image/png");
    expect(text).toBe("Picture by painter-1, cartoon, 1024x1024.");
    expect(structured).toMatchObject({
      placeholder: false,
      model: "painter-1",
      prompt: "a cat",
      revised_prompt: "a cat, sitting",
    });
  });

  test("no key is sent if none is configured, and the base may include the path", async () => {
    await using provider = await startProvider((_, response) =>
      send(response, 200, { data: [{ b64_json: pixel.toString("base64") }] }),
    );
    await generate(createImageToolkit({ url: `${provider.url}/` }), { prompt: "a cat" });
    await generate(createImageToolkit({ url: `${provider.url}/images/generations` }), {
      prompt: "a cat",
    });
    expect(
      provider.requests.map(({ path, authorization, body }) => [
        path,
        authorization,
        "model" in body,
      ]),
    ).toEqual([
      ["/v1/images/generations", undefined, false],
      ["/v1/images/generations", undefined, false],
    ]);
  });

  test("a parameter the provider rejects is dropped, and a different size is reported", async () => {
    await using provider = await startProvider(({ body }, response) => {
      if ("response_format" in body)
        return send(response, 400, { error: { message: "Unknown parameter: 'response_format'." } });
      if (body.size !== "1024x1024")
        return send(response, 400, {
          error: { message: "Invalid value: '512x512'. Supported values are: '1024x1024'." },
        });
      return send(response, 200, { data: [{ b64_json: pixel.toString("base64") }] });
    });
    const { text, structured } = await generate(withKey(provider.url), { prompt: "a cat" });
    expect(provider.requests).toHaveLength(3);
    expect(text).toContain("The provider does not make 512x512.");
    expect(structured.size).toBe("1024x1024");
  });

  test("a linked picture is fetched without the key", async () => {
    await using provider = await startProvider(({ path }, response, request) => {
      if (path === "/files/1.png") {
        response.writeHead(200, { "content-type": "image/png" });
        response.end(pixel);
      } else send(response, 200, { data: [{ url: `http://${request.headers.host}/files/1.png` }] });
    });
    expect((await generate(withKey(provider.url), { prompt: "a cat" })).bytes).toEqual(pixel);
    expect(provider.requests.at(-1)).toMatchObject({
      path: "/files/1.png",
      authorization: undefined,
    });
  });

  test("a link to a private address is not followed unless it is the provider's own", async () => {
    await using inside = await startProvider((_, response) => response.end(pixel));
    await using provider = await startProvider((_, response) =>
      send(response, 200, { data: [{ url: `${inside.url}/secret.png` }] }),
    );
    expect(await failure(generate(withKey(provider.url), { prompt: "a cat" }))).toMatchObject({
      code: "DENIED",
    });
    expect(inside.requests).toEqual([]);
  });

  test.each([
    [
      401,
      { error: { message: "Incorrect API key provided: sk-test-0123456789" } },
      "UNAVAILABLE",
      /HTTP 401: Incorrect API key provided: …/,
      keyField,
    ],
    [403, "<html>forbidden</html>", "UNAVAILABLE", /HTTP 403/, keyField],
    [
      404,
      { error: { message: "model not found" } },
      "UNAVAILABLE",
      /model not found/,
      [
        { do: "edit-config", field: "images.url" },
        { do: "edit-config", field: "images.model" },
      ],
    ],
    [429, { error: { message: "quota" } }, "RATE_LIMITED", /HTTP 429: quota/, wait],
    [
      400,
      { error: { message: "Your request was rejected by the safety system." } },
      "EXECUTION",
      /safety system/,
      wait,
    ],
    [500, "", "UNAVAILABLE", /HTTP 500$/, wait],
    [302, "", "EXECUTION", /HTTP 302/, wait],
  ])(
    "HTTP %d is reported with the next step and without the key",
    async (status, body, code, message, next) => {
      await using provider = await startProvider((_, response) =>
        send(response, status, body, { "retry-after": "7", location: "http://127.0.0.1:1/" }),
      );
      const error = await failure(generate(withKey(provider.url), { prompt: "a cat" }));
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(error.next).toEqual(next);
      expect(error.details).toMatchObject({ status, retryAfterSeconds: 7 });
      expect(`${error.message} ${error.hint} ${JSON.stringify(error.details)}`).not.toContain(
        "sk-test",
      );
      expect(provider.requests).toHaveLength(1);
    },
  );

  test.each([
    ["not JSON at all", /no image in `data`/],
    [{ data: [] }, /no image in `data`/],
    [{ data: [{}] }, /neither `b64_json` nor `url`/],
    [{ data: [{ b64_json: "***" }] }, /not base64/],
    [
      { data: [{ b64_json: Buffer.from("just text").toString("base64") }] },
      /not a PNG, JPEG, WebP or GIF/,
    ],
    [{ data: [{ url: "http://[" }] }, /not a URL/],
  ])("%#: a reply without a picture is BAD_ANSWER", async (body, message) => {
    await using provider = await startProvider((_, response) => send(response, 200, body));
    expect(await failure(generate(withKey(provider.url), { prompt: "a cat" }))).toMatchObject({
      code: "BAD_ANSWER",
      message: expect.stringMatching(message),
    });
  });

  test("a picture over 7 MiB is TOO_LARGE", async () => {
    await using provider = await startProvider((_, response) =>
      send(response, 200, {
        data: [
          { b64_json: Buffer.concat([pixel, Buffer.alloc(8 * 1024 * 1024)]).toString("base64") },
        ],
      }),
    );
    expect(await failure(generate(withKey(provider.url), { prompt: "a cat" }))).toMatchObject({
      code: "TOO_LARGE",
    });
  });

  test("a slow request ends when the call is cancelled or times out", async () => {
    const closed: Promise<void>[] = [];
    await using provider = await startProvider((_, response) => {
      closed.push(new Promise((resolve) => response.on("close", resolve)));
    });
    const scope = new Scope();
    const waiting = failure(generate(withKey(provider.url), { prompt: "a cat" }, scope));
    await expect.poll(() => provider.requests.length).toBe(1);
    scope.cancel(new HallError("CANCELLED", "withdrawn"));
    expect(await waiting).toMatchObject({ code: "CANCELLED" });
    expect(
      await failure(
        generate(withKey(provider.url), { prompt: "a cat" }, new Scope(undefined, 100)),
      ),
    ).toMatchObject({ code: "TIMEOUT" });
    await Promise.all(closed);
  });

  test("an unreachable provider is UNAVAILABLE", async () => {
    const provider = await startProvider((_, response) => response.end());
    await provider[Symbol.asyncDispose]();
    expect(await failure(generate(withKey(provider.url), { prompt: "a cat" }))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/cannot be reached/),
    });
  });

  test.each([
    [
      { url: "https://images.example.com/v1", apiKeyEnv: "NOT_SET", env },
      /images\.apiKeyEnv names "NOT_SET", which is not set/,
    ],
    [
      { url: "http://images.example.com/v1", apiKeyEnv: "IMAGES_KEY", env },
      /not encrypted, so the key was not sent/,
    ],
    [{ url: "file:///etc/passwd" }, /not an http or https URL/],
    [{ url: "nonsense" }, /not an http or https URL/],
  ])("%#: a config error is reported before anything is sent", async (options, message) => {
    expect(await failure(generate(createImageToolkit(options), { prompt: "a cat" }))).toMatchObject(
      {
        code: "UNAVAILABLE",
        message: expect.stringMatching(message),
      },
    );
  });
});
