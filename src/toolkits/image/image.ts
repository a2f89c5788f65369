/** Pictures from a text: made by the configured provider, else a placeholder that says it is one. */
import { type Advice, adviceForModel } from "../../base/advice.ts";
import { HallError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Scope } from "../../base/scope.ts";
import type { Outcome, Tool, Toolkit } from "../../tool.ts";
import {
  booleanSchema,
  choiceSchema,
  createToolkit,
  integerSchema,
  invalidField,
  listSchema,
  objectSchema,
  textSchema,
} from "../toolkit.ts";

export interface ImageToolkitOptions {
  /** Base of an OpenAI-compatible API. Without it, pictures are placeholders. */
  readonly url?: string | undefined;
  readonly model?: string | undefined;
  /** The variable that holds the provider's key; read at each call and kept nowhere. */
  readonly apiKeyEnv?: string | undefined;
  /** Default: `process.env`. */
  readonly env?: NodeJS.ProcessEnv;
}

export function createImageToolkit(options: ImageToolkitOptions = {}): Toolkit {
  const { url } = options;
  return createToolkit(
    {
      id: "image_generator",
      category: "AI_GENERATION",
      description: "AI-powered image generation",
    },
    [
      [
        describeTool(url !== undefined),
        async (args, { scope }) => {
          const request = readRequest(args);
          return url === undefined
            ? answerWithPlaceholder(request, scope)
            : answerWithProvider(request, { ...options, url }, scope);
        },
        url === undefined ? loadPlaceholder : loadProvider,
      ],
    ],
  );
}

const styles = ["realistic", "artistic", "cartoon", "abstract"] as const;
const sizes = ["256x256", "512x512", "1024x1024"] as const;
/** The longest prompt that providers accept. */
const promptLengthMax = 32_000;

export interface ImageRequest {
  readonly prompt: string;
  readonly style: (typeof styles)[number];
  readonly size: (typeof sizes)[number];
}

function describeTool(hasProvider: boolean): Tool {
  const source = hasProvider
    ? "An image model makes it: describe the subject, the setting, the light and the mood. "
    : "No image provider is configured, so the picture is only a placeholder in the prompt's size, style and colours. ";
  return {
    name: "generate_image",
    title: "Generate image",
    description: `Makes a picture from a text and returns it as image content. ${source}\`style\` is realistic, artistic (painted), cartoon (outlines) or abstract.`,
    inputSchema: objectSchema(
      {
        prompt: textSchema("A description of the picture."),
        style: { ...choiceSchema(styles), default: "realistic" },
        size: {
          ...choiceSchema(sizes),
          default: "512x512",
          description: "Width and height in pixels.",
        },
      },
      ["style", "size"],
    ),
    outputSchema: objectSchema(
      {
        placeholder: booleanSchema(
          "True if no provider is configured and the picture does not show the prompt.",
        ),
        prompt: textSchema(),
        style: choiceSchema(styles),
        size: textSchema(
          "The size made; it is larger than requested if the provider makes no smaller one.",
        ),
        mime_type: textSchema(),
        bytes: integerSchema(),
        model: textSchema(),
        revised_prompt: textSchema(
          "The prompt as the provider changed it, if the provider reports that.",
        ),
        next: { ...listSchema({ type: "object" }), description: "What to do next." },
      },
      ["model", "revised_prompt", "next"],
    ),
    // A provider costs money and makes a different picture each time, but changes nothing.
    annotations: { readOnlyHint: true, idempotentHint: !hasProvider, openWorldHint: hasProvider },
    facts: { timeoutMs: hasProvider ? 120_000 : 10_000 },
  };
}

const loadPlaceholder = () => import("./placeholder.ts");
const loadProvider = () => import("./provider.ts");

async function answerWithPlaceholder(request: ImageRequest, scope: Scope): Promise<Outcome> {
  const { drawPlaceholder } = await loadPlaceholder();
  const { png, colours } = await drawPlaceholder(request, scope);
  const shown = colours.length > 0 ? `only its colours (${colours.join(", ")})` : "nothing of it";
  const text = `Placeholder picture, ${request.style}, ${request.size}. No image provider is configured: it shows ${shown}, not what the prompt describes.`;
  const next: Advice[] = [{ do: "edit-config", field: "images.url" }];

  const outcome = answer(png, "image/png", text, { placeholder: true, ...request, next });
  const advice = `Do not present this as the requested picture. ${adviceForModel(next)}`;
  return {
    ...outcome,
    content: [
      ...outcome.content,
      { type: "text", text: advice, annotations: { audience: ["assistant"] } },
    ],
  };
}

async function answerWithProvider(
  request: ImageRequest,
  options: ImageToolkitOptions & { readonly url: string },
  scope: Scope,
): Promise<Outcome> {
  const { requestImage } = await loadProvider();
  const { url, model } = options;
  const image = await requestImage({ url, model, key: readKey(options) }, request, scope);

  const isOtherSize = image.size !== request.size;
  const sizeNote = isOtherSize ? ` The provider does not make ${request.size}.` : "";
  const text = `Picture by ${model ?? "the configured image model"}, ${request.style}, ${image.size}.${sizeNote}`;
  return answer(image.bytes, image.mimeType, text, {
    placeholder: false,
    ...request,
    size: image.size,
    ...(model !== undefined && { model }),
    ...(image.revisedPrompt !== undefined && { revised_prompt: image.revisedPrompt }),
  });
}

function readKey({ apiKeyEnv, env = process.env }: ImageToolkitOptions): string | undefined {
  if (apiKeyEnv === undefined) return undefined;
  const key = env[apiKeyEnv]?.trim();
  if (key) return key;
  throw new HallError("UNAVAILABLE", `images.apiKeyEnv names "${apiKeyEnv}", which is not set`, {
    next: [{ do: "set-variable", name: apiKeyEnv }],
  });
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
    throw invalidField("prompt", "prompt must describe the picture");
  if (prompt.length > promptLengthMax)
    throw invalidField("prompt", "prompt exceeds the limit of 32,000 characters");
  if (!knownStyle) throw invalidField("style", `style must be one of: ${styles.join(", ")}`);
  if (!knownSize) throw invalidField("size", `size must be one of: ${sizes.join(", ")}`);
  return { prompt: prompt.trim(), style: knownStyle, size: knownSize };
}
