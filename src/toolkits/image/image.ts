/** Pictures from a text: by a model behind an endpoint where one is configured, else drawn here by rule, and labelled as that. */
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CallContext, Outcome, Tool, Toolkit } from "../../tool.ts";

export interface ImageToolkitOptions {
  /** Base of an OpenAI-compatible API. Without it, pictures are drawn here. */
  readonly url?: string | undefined;
  readonly model?: string | undefined;
  /** The variable that holds the endpoint's key; it is read at each call and kept nowhere. */
  readonly apiKeyEnv?: string | undefined;
  /** Default: the process's. */
  readonly env?: NodeJS.ProcessEnv;
}

export function createImageToolkit(options: ImageToolkitOptions = {}): Toolkit {
  const { url } = options;
  const tool = describeTool(url !== undefined);
  return {
    id: "image_generator",
    category: "AI_GENERATION",
    description: "AI-powered image generation",
    list: async () => [tool],
    async call({ name }, args, context) {
      if (name !== tool.name)
        throw new HallError("NOT_FOUND", `image_generator has no tool named "${name}"`);
      const request = readRequest(args);
      return url === undefined
        ? drawHere(request, context)
        : askEndpoint(request, { ...options, url }, context);
    },
    health: async () => ({ state: "available" }),
    close: async () => {},
  };
}

const styles = ["realistic", "artistic", "cartoon", "abstract"] as const;
const sizes = ["256x256", "512x512", "1024x1024"] as const;
/** The longest that endpoints take. */
const promptLengthMax = 32_000;

interface ImageRequest {
  readonly prompt: string;
  readonly style: (typeof styles)[number];
  readonly size: (typeof sizes)[number];
}

function describeTool(hasEndpoint: boolean): Tool {
  const how = hasEndpoint
    ? "An image model makes it; say what is seen, where, in which light and mood. "
    : "No image model is configured: it is drawn by rule from the words of the prompt, the same each time. It knows skies and hours (sunset, night, storm, snow), landscapes " +
      "(mountains, hills, sea, forest, city, desert, river), common things (house, castle, tree, flower, boat, car, rocket, balloon), creatures (cat, dog, bird, fish, person, robot), " +
      "plain shapes, colours and small numbers (three red birds); other words only change the composition. The answer says which words were drawn. ";
  return {
    name: "generate_image",
    title: "Generate image",
    description: `Makes a picture from a text and returns it as image content. ${how}\`style\` is realistic, artistic (painted), cartoon (outlines) or abstract.`,
    inputSchema: {
      type: "object",
      properties: {
        prompt: { type: "string", description: "What the picture shows." },
        style: { type: "string", enum: styles, default: "realistic" },
        size: {
          type: "string",
          enum: sizes,
          default: "512x512",
          description: "Width and height in pixels.",
        },
      },
      required: ["prompt"],
    },
    outputSchema: {
      type: "object",
      properties: {
        generator: {
          type: "string",
          enum: ["procedural", "model"],
          description: "procedural: drawn by rule from the words; model: made by an image model.",
        },
        prompt: { type: "string" },
        style: { type: "string", enum: styles },
        size: {
          type: "string",
          description:
            "As asked of the generator; an endpoint that knows no other may make a larger picture than was wanted.",
        },
        mime_type: { type: "string" },
        bytes: { type: "integer" },
        elements: {
          type: "array",
          items: { type: "string" },
          description: "What of the prompt was recognised and drawn, for procedural pictures.",
        },
        model: { type: "string" },
        revised_prompt: {
          type: "string",
          description: "What the model was really given, where it says.",
        },
      },
      required: ["generator", "prompt", "style", "size", "mime_type", "bytes"],
    },
    // Nothing changes anywhere; but a model costs money and makes another picture each time.
    annotations: { readOnlyHint: true, idempotentHint: !hasEndpoint, openWorldHint: hasEndpoint },
    facts: { timeoutMs: hasEndpoint ? 120_000 : 10_000 },
  };
}

async function drawHere(request: ImageRequest, { scope }: CallContext): Promise<Outcome> {
  const { drawImage } = await import("./draw.ts");
  const { prompt, style, size } = request;
  const { png, elements } = await drawImage({
    prompt,
    style,
    size: Number.parseInt(size, 10),
    scope,
  });
  const drawn =
    elements.length > 0
      ? `Drawn from the prompt: ${elements.join(", ")}.`
      : "No word of the prompt was recognised: the composition follows from its letters.";
  const label = `Procedural ${style} picture, ${size}, drawn by rule and not by an image model. ${drawn}`;
  return answer(png, "image/png", label, { generator: "procedural", ...request, elements });
}

async function askEndpoint(
  request: ImageRequest,
  options: ImageToolkitOptions & { readonly url: string },
  { scope }: CallContext,
): Promise<Outcome> {
  const { requestImage } = await import("./endpoint.ts");
  const { url, model } = options;
  const image = await requestImage({ url, model, key: readKey(options) }, request, scope);
  const other = image.size === request.size ? "" : ` The endpoint does not make ${request.size}.`;
  return answer(
    image.bytes,
    image.mimeType,
    `Picture by ${model ?? "the configured image model"}, ${request.style}, ${image.size}.${other}`,
    {
      generator: "model",
      ...request,
      size: image.size,
      ...(model !== undefined && { model }),
      ...(image.revisedPrompt !== undefined && { revised_prompt: image.revisedPrompt }),
    },
  );
}

function readKey({ apiKeyEnv, env = process.env }: ImageToolkitOptions): string | undefined {
  if (apiKeyEnv === undefined) return undefined;
  const key = env[apiKeyEnv]?.trim();
  if (key) return key;
  throw new HallError(
    "UNAVAILABLE",
    `the variable ${apiKeyEnv}, which images.apiKeyEnv names, is not set`,
    {
      hint: `Set ${apiKeyEnv} and start the hall again.`,
    },
  );
}

function answer(bytes: Buffer, mimeType: string, text: string, facts: JsonObject): Outcome {
  return {
    content: [
      { type: "text", text },
      { type: "image", data: bytes.toString("base64"), mimeType },
    ],
    structuredContent: { ...facts, mime_type: mimeType, bytes: bytes.length },
  };
}

function readRequest({ prompt, style, size }: JsonObject): ImageRequest {
  const knownStyle = styles.find((known) => known === style);
  const knownSize = sizes.find((known) => known === size);
  if (typeof prompt !== "string" || prompt.trim() === "")
    throw badValue("prompt", "must say what the picture shows");
  if (prompt.length > promptLengthMax)
    throw badValue("prompt", `has at most ${promptLengthMax} characters`);
  if (!knownStyle) throw badValue("style", `must be one of ${styles.join(", ")}`);
  if (!knownSize) throw badValue("size", `must be one of ${sizes.join(", ")}`);
  return { prompt: prompt.trim(), style: knownStyle, size: knownSize };
}

function badValue(field: string, problem: string): HallError {
  const message = `${field} ${problem}`;
  return new HallError("VALIDATION", message, {
    details: { errors: [{ path: `/${field}`, message }] },
  });
}
