import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { crc32, inflateSync } from "node:zlib";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { isObject, type JsonObject } from "../../src/base/json.ts";
import { Scope } from "../../src/base/scope.ts";
import type { Outcome, Toolkit } from "../../src/tool.ts";
import { createImageToolkit } from "../../src/toolkits/image/image.ts";

const ajv = new Ajv({ strict: true });

/** Fills defaults as the gateway does, and holds every answer against the tool's own outputSchema. */
async function generate(
  toolkit: Toolkit,
  args: JsonObject,
  scope = new Scope(),
): Promise<{ text: string; bytes: Buffer; mimeType: unknown; structured: JsonObject }> {
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
  expect(outcome.content.map(({ type }) => type)).toEqual(["text", "image"]);
  const [text, image] = outcome.content;
  const bytes = Buffer.from(String(image?.data), "base64");
  expect(outcome.structuredContent).toMatchObject({
    bytes: bytes.length,
    mime_type: image?.mimeType,
  });
  return {
    text: String(text?.text),
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

/** An independent reading of a PNG: every chunk with its checksum, every filter undone. */
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
    const filter = raw[y * (stride + 1)];
    for (let i = 0; i < stride; i++) {
      const left = i >= 3 ? (pixels[y * stride + i - 3] ?? 0) : 0;
      const up = y > 0 ? (pixels[(y - 1) * stride + i] ?? 0) : 0;
      pixels[y * stride + i] =
        (raw[y * (stride + 1) + 1 + i] ?? 0) + (filter === 1 ? left : filter === 2 ? up : 0);
    }
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
  test("offers one tool with exactly the parameters callers know", async () => {
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

  test("says of itself whether it is the same each time and where it goes", async () => {
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
  ])("%#: arguments that do not fit are refused by field", async (args, path) => {
    expect(await failure(generate(createImageToolkit(), args))).toMatchObject({
      code: "VALIDATION",
      details: { errors: [{ path }] },
    });
  });

  test("a tool it does not have is NOT_FOUND", async () => {
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

describe("pictures drawn by rule", () => {
  test.each(["256x256", "512x512", "1024x1024"])(
    "a picture of %s is a whole PNG of that size",
    async (size) => {
      const { bytes, mimeType, structured } = await generate(createImageToolkit(), {
        prompt: "a house by the sea",
        size,
      });
      const { width, height } = readPng(bytes);
      expect(`${width}x${height}`).toBe(size);
      expect(mimeType).toBe("image/png");
      expect(structured).toMatchObject({
        generator: "procedural",
        style: "realistic",
        size,
        elements: ["sea", "house"],
      });
    },
  );

  test("is labelled as procedural, and says what it drew", async () => {
    const known = await generate(createImageToolkit(), {
      prompt: "Three red birds over a castle at night",
      ...small,
    });
    expect(known.text).toMatch(
      /^Procedural realistic picture, 256x256, drawn by rule and not by an image model\. .*bird × 3, castle/,
    );
    const unknown = await generate(createImageToolkit(), { prompt: "epistemology", ...small });
    expect(unknown.text).toMatch(/No word of the prompt was recognised/);
    expect(unknown.structured.elements).toEqual([]);
  });

  test("is the same for the same words and another for others", async () => {
    const prompts = [
      "a red house",
      "a red house",
      "A RED HOUSE ",
      "a blue house",
      "entropy",
      "enthalpy",
    ];
    const [first, again, shouted, blue, entropy, enthalpy] = await Promise.all(
      prompts.map(async (prompt) => (await draw(prompt)).pixels),
    );
    expect(again).toEqual(first);
    expect(shouted).toEqual(first);
    expect(blue).not.toEqual(first);
    expect(entropy).not.toEqual(enthalpy);
  });

  test("has the same composition at every size", async () => {
    const [little, large] = await Promise.all(
      ["256x256", "1024x1024"].map(async (size) =>
        readPng(
          (
            await generate(createImageToolkit(), {
              prompt: "a yellow circle",
              style: "cartoon",
              size,
            })
          ).bytes,
        ),
      ),
    );
    for (const [x, y] of [
      [0.5, 0.5],
      [0.05, 0.05],
      [0.9, 0.3],
    ] as const) {
      if (!little || !large) throw new Error("not drawn");
      const [one, other] = [pixelAt(little, x, y), pixelAt(large, x, y)];
      for (const channel of [0, 1, 2] as const)
        expect(Math.abs(one[channel] - other[channel])).toBeLessThan(24);
    }
  });

  test("every style draws the same words another way", async () => {
    const pictures = await Promise.all(
      ["realistic", "artistic", "cartoon", "abstract"].map(async (style) =>
        (await draw("a boat on the ocean at sunset", style)).pixels.toString("base64"),
      ),
    );
    expect(new Set(pictures).size).toBe(4);
  });

  test("colours and hours are those of the words", async () => {
    const [red, , blueOfRed] = pixelAt(await draw("a red circle", "cartoon"), 0.5, 0.5);
    expect(red).toBeGreaterThan(blueOfRed + 80);
    const [redOfBlue, , blue] = pixelAt(await draw("a blue square", "cartoon"), 0.5, 0.5);
    expect(blue).toBeGreaterThan(redOfBlue + 60);
    const brightness = ({ pixels }: ReturnType<typeof readPng>) =>
      pixels.reduce((sum, value) => sum + value, 0) / pixels.length;
    expect(brightness(await draw("mountains at night"))).toBeLessThan(
      brightness(await draw("mountains on a sunny day")) - 60,
    );
    const [, seaGreen, seaBlue] = pixelAt(await draw("the ocean"), 0.5, 0.8);
    expect(seaBlue).toBeGreaterThan(seaGreen);
    const [, meadowGreen, meadowBlue] = pixelAt(await draw("a meadow"), 0.5, 0.9);
    expect(meadowGreen).toBeGreaterThan(meadowBlue + 20);
  });

  test("a cartoon has ink lines, and other styles none there", async () => {
    const darkest = ({ pixels, width, height }: ReturnType<typeof readPng>) =>
      Math.min(
        ...Array.from(
          { length: width * height },
          (_, index) =>
            (pixels[index * 3] ?? 0) + (pixels[index * 3 + 1] ?? 0) + (pixels[index * 3 + 2] ?? 0),
        ),
      );
    expect(darkest(await draw("a yellow circle", "cartoon"))).toBeLessThan(110);
    expect(darkest(await draw("a yellow circle", "realistic"))).toBeGreaterThan(110);
  });

  test.each([
    "constructor __proto__ hasOwnProperty",
    "🦄🌈",
    "星空の下の猫",
    "a".repeat(30_000),
    "9999999 cats",
    "two two two trees",
    "\u0000",
  ])("any prompt is drawn: %#", async (prompt) => {
    expect((await draw(prompt)).width).toBe(256);
  });

  test("the event loop stays free, and a cancelled drawing stops", async () => {
    const delays = monitorEventLoopDelay({ resolution: 5 });
    delays.enable();
    const start = performance.now();
    await generate(createImageToolkit(), {
      prompt: "a castle in a snowy forest, mountains, moon",
      style: "artistic",
      size: "1024x1024",
    });
    const tookMs = performance.now() - start;
    delays.disable();
    // Typically 0.4 to 1 s, blocking for 10 to 20 ms; the median of the delays says it on a busy machine too.
    expect(tookMs).toBeLessThan(10_000);
    expect(delays.percentile(50) / 1e6).toBeLessThan(50);
    const scope = new Scope();
    const drawing = failure(
      generate(createImageToolkit(), { prompt: "a city", size: "1024x1024" }, scope),
    );
    scope.cancel(new HallError("CANCELLED", "withdrawn"));
    expect(await drawing).toMatchObject({ code: "CANCELLED" });
  });
});

/** A small picture, as an endpoint would send it. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

interface Asked {
  readonly path: string | undefined;
  readonly authorization: string | undefined;
  readonly body: JsonObject;
}

interface Endpoint extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
}

type Respond = (asked: Asked, response: ServerResponse, request: IncomingMessage) => void;

async function startEndpoint(respond: Respond): Promise<Endpoint> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const one: Asked = {
        path: request.url,
        authorization: request.headers.authorization,
        body: body ? JSON.parse(body) : {},
      };
      asked.push(one);
      respond(one, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
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

describe("pictures from an endpoint", () => {
  test("asks as OpenAI's images API wants it, with the key, and passes the picture on", async () => {
    await using endpoint = await startEndpoint((_, response) =>
      send(response, 200, {
        created: 1,
        data: [{ b64_json: pixel.toString("base64"), revised_prompt: "a cat, sitting" }],
      }),
    );
    const { text, bytes, mimeType, structured } = await generate(withKey(endpoint.url), {
      prompt: "a cat",
      style: "cartoon",
      size: "1024x1024",
    });
    expect(endpoint.asked).toEqual([
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
      generator: "model",
      model: "painter-1",
      prompt: "a cat",
      revised_prompt: "a cat, sitting",
    });
  });

  test("sends no key where none is configured, and takes a base with or without the path", async () => {
    await using endpoint = await startEndpoint((_, response) =>
      send(response, 200, { data: [{ b64_json: pixel.toString("base64") }] }),
    );
    await generate(createImageToolkit({ url: `${endpoint.url}/` }), { prompt: "a cat" });
    await generate(createImageToolkit({ url: `${endpoint.url}/images/generations` }), {
      prompt: "a cat",
    });
    expect(
      endpoint.asked.map(({ path, authorization, body }) => [path, authorization, "model" in body]),
    ).toEqual([
      ["/v1/images/generations", undefined, false],
      ["/v1/images/generations", undefined, false],
    ]);
  });

  test("leaves out what the endpoint refuses by name, and says that the size is another", async () => {
    await using endpoint = await startEndpoint(({ body }, response) => {
      if ("response_format" in body)
        return send(response, 400, { error: { message: "Unknown parameter: 'response_format'." } });
      if (body.size !== "1024x1024")
        return send(response, 400, {
          error: { message: "Invalid value: '512x512'. Supported values are: '1024x1024'." },
        });
      return send(response, 200, { data: [{ b64_json: pixel.toString("base64") }] });
    });
    const { text, structured } = await generate(withKey(endpoint.url), { prompt: "a cat" });
    expect(endpoint.asked).toHaveLength(3);
    expect(text).toContain("The endpoint does not make 512x512.");
    expect(structured.size).toBe("1024x1024");
  });

  test("fetches a picture that is named by its address, without the key", async () => {
    await using endpoint = await startEndpoint(({ path }, response, request) => {
      if (path === "/files/1.png") {
        response.writeHead(200, { "content-type": "image/png" });
        response.end(pixel);
      } else send(response, 200, { data: [{ url: `http://${request.headers.host}/files/1.png` }] });
    });
    expect((await generate(withKey(endpoint.url), { prompt: "a cat" })).bytes).toEqual(pixel);
    expect(endpoint.asked.at(-1)).toMatchObject({ path: "/files/1.png", authorization: undefined });
  });

  test("does not follow an address into this network that is not the endpoint's own", async () => {
    await using inside = await startEndpoint((_, response) => response.end(pixel));
    await using endpoint = await startEndpoint((_, response) =>
      send(response, 200, { data: [{ url: `${inside.url}/secret.png` }] }),
    );
    expect(await failure(generate(withKey(endpoint.url), { prompt: "a cat" }))).toMatchObject({
      code: "DENIED",
    });
    expect(inside.asked).toEqual([]);
  });

  test.each([
    [
      401,
      { error: { message: "Incorrect API key provided: sk-test-0123456789" } },
      "UNAVAILABLE",
      /HTTP 401: Incorrect API key provided: …/,
      /images\.apiKeyEnv/,
    ],
    [403, "<html>forbidden</html>", "UNAVAILABLE", /HTTP 403/, /images\.apiKeyEnv/],
    [
      404,
      { error: { message: "model not found" } },
      "UNAVAILABLE",
      /model not found/,
      /images\.model \(painter-1\)/,
    ],
    [429, { error: { message: "quota" } }, "RATE_LIMITED", /HTTP 429: quota/, /Wait/],
    [
      400,
      { error: { message: "Your request was rejected by the safety system." } },
      "EXECUTION",
      /safety system/,
      /Change the prompt/,
    ],
    [500, "", "UNAVAILABLE", /HTTP 500$/, /later/],
    [302, "", "EXECUTION", /HTTP 302/, /./],
  ])(
    "HTTP %d says what happened and what to do, and never the key",
    async (status, body, code, message, hint) => {
      await using endpoint = await startEndpoint((_, response) =>
        send(response, status, body, { "retry-after": "7", location: "http://127.0.0.1:1/" }),
      );
      const error = await failure(generate(withKey(endpoint.url), { prompt: "a cat" }));
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
      expect(error.details).toMatchObject({ status, retryAfterSeconds: 7 });
      expect(`${error.message} ${error.hint} ${JSON.stringify(error.details)}`).not.toContain(
        "sk-test",
      );
      expect(endpoint.asked).toHaveLength(1);
    },
  );

  test.each([
    ["not JSON at all", /no image in `data`/],
    [{ data: [] }, /no image in `data`/],
    [{ data: [{}] }, /neither `b64_json` nor `url`/],
    [{ data: [{ b64_json: "***" }] }, /not base64/],
    [
      { data: [{ b64_json: Buffer.from("just text").toString("base64") }] },
      /no PNG, JPEG, WebP or GIF/,
    ],
    [{ data: [{ url: "http://[" }] }, /no address/],
  ])("%#: an answer that is no picture is a BAD_ANSWER", async (body, message) => {
    await using endpoint = await startEndpoint((_, response) => send(response, 200, body));
    expect(await failure(generate(withKey(endpoint.url), { prompt: "a cat" }))).toMatchObject({
      code: "BAD_ANSWER",
      message: expect.stringMatching(message),
    });
  });

  test("a picture that no message could carry is TOO_LARGE", async () => {
    await using endpoint = await startEndpoint((_, response) =>
      send(response, 200, {
        data: [
          { b64_json: Buffer.concat([pixel, Buffer.alloc(8 * 1024 * 1024)]).toString("base64") },
        ],
      }),
    );
    expect(await failure(generate(withKey(endpoint.url), { prompt: "a cat" }))).toMatchObject({
      code: "TOO_LARGE",
    });
  });

  test("a slow endpoint is left when the call is cancelled or its time is up", async () => {
    const closed: Promise<void>[] = [];
    await using endpoint = await startEndpoint((_, response) => {
      closed.push(new Promise((resolve) => response.on("close", resolve)));
    });
    const scope = new Scope();
    const waiting = failure(generate(withKey(endpoint.url), { prompt: "a cat" }, scope));
    await expect.poll(() => endpoint.asked.length).toBe(1);
    scope.cancel(new HallError("CANCELLED", "withdrawn"));
    expect(await waiting).toMatchObject({ code: "CANCELLED" });
    expect(
      await failure(
        generate(withKey(endpoint.url), { prompt: "a cat" }, new Scope(undefined, 100)),
      ),
    ).toMatchObject({ code: "TIMEOUT" });
    await Promise.all(closed);
  });

  test("an endpoint that is not there is UNAVAILABLE", async () => {
    const endpoint = await startEndpoint((_, response) => response.end());
    await endpoint[Symbol.asyncDispose]();
    expect(await failure(generate(withKey(endpoint.url), { prompt: "a cat" }))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/could not be reached/),
    });
  });

  test.each([
    [
      { url: "https://images.example.com/v1", apiKeyEnv: "NOT_SET", env },
      /NOT_SET, which images\.apiKeyEnv names, is not set/,
    ],
    [
      { url: "http://images.example.com/v1", apiKeyEnv: "IMAGES_KEY", env },
      /not encrypted, so the key was not sent/,
    ],
    [{ url: "file:///etc/passwd" }, /no http address/],
    [{ url: "nonsense" }, /no http address/],
  ])(
    "%#: a config that cannot work says what to change before anything is sent",
    async (options, message) => {
      expect(
        await failure(generate(createImageToolkit(options), { prompt: "a cat" })),
      ).toMatchObject({
        code: "UNAVAILABLE",
        message: expect.stringMatching(message),
      });
    },
  );
});
