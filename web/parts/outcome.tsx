import type { Outcome as ToolOutcome } from "../../src/tool.ts";
import { Code } from "./code.tsx";
import { JsonTree } from "./json-tree.tsx";
import { Badge, formatBytes } from "./shown.tsx";

/** The result of a call: text, images and JSON. All of it is untrusted text; none is markup. */
export function Outcome({ outcome }: { readonly outcome: ToolOutcome }) {
  const { content = [], structuredContent, isError } = outcome;
  return (
    <div class="stack">
      {isError && <Badge tone="bad">the tool reports an error</Badge>}
      {content.map((item, index) => (
        <Content key={`${index}`} item={item as unknown as ContentItem} />
      ))}
      {structuredContent !== undefined && (
        <div class="stack tight">
          <h3>Structured content</h3>
          <JsonTree value={structuredContent} />
        </div>
      )}
    </div>
  );
}

interface ContentItem {
  readonly type: string;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly resource?: {
    readonly uri?: unknown;
    readonly text?: unknown;
    readonly blob?: unknown;
    readonly mimeType?: unknown;
  };
}

const textMax = 200_000;

function Content({ item }: { readonly item: ContentItem }) {
  const { type, text, data, mimeType, resource, uri, name } = item;
  if (type === "text" && typeof text === "string") return <Text text={text} />;
  if (type === "image" && typeof data === "string" && isPicture(mimeType))
    return <Picture type={mimeType} data={data} />;
  if (type === "resource" && typeof resource?.text === "string")
    return (
      <div class="stack tight">
        <code>{String(resource.uri)}</code>
        <Text text={resource.text} />
      </div>
    );
  if (type === "resource" && typeof resource?.blob === "string" && isPicture(resource.mimeType))
    return (
      <div class="stack tight">
        <code>{String(resource.uri)}</code>
        <Picture type={resource.mimeType} data={resource.blob} />
      </div>
    );
  if (type === "resource_link")
    return (
      <div class="stack tight">
        {typeof name === "string" && <strong>{name}</strong>}
        <code>{String(uri)}</code>
      </div>
    );
  return <JsonTree value={item} />;
}

function Picture({ type, data }: { readonly type: string; readonly data: string }) {
  return <img class="picture" alt="Result of the tool" src={`data:${type};base64,${data}`} />;
}

function isPicture(type: unknown): type is string {
  return typeof type === "string" && /^image\/(png|jpeg|gif|webp|avif)$/.test(type);
}

function Text({ text }: { readonly text: string }) {
  const parsed = parseJson(text);
  if (parsed !== undefined) return <JsonTree value={parsed} />;
  const more = text.length > textMax ? `\n… of ${formatBytes(text.length)}` : "";
  return <Code label="Text" text={`${text.slice(0, textMax)}${more}`} />;
}

function parseJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > textMax) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
