import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../../base/json.ts";
import { ConfigError, type Path } from "../../config/error.ts";
import { fieldAt } from "../../config/layer.ts";
import { type Document, parseDocument } from "../import/document.ts";

/** What is to become of a map of servers in a file. */
export interface Edit {
  /** Where the map is. */
  readonly at: Path;
  readonly put?: Readonly<Record<string, JsonObject>>;
  readonly remove?: readonly string[];
}

/**
 * The file's text after the edit. Everything else in it stays as it is, comments included; that is checked, not hoped: the new
 * text is read again and must say exactly what was meant. Throws ConfigError where this cannot be done.
 */
export async function editDocument(
  document: Document,
  { at, put = {}, remove = [] }: Edit,
): Promise<string> {
  if (!isObject(document.tree))
    throw new ConfigError(
      `${document.file}: is not an object; expected a config file; look at what stands there`,
    );
  const path = at.map(String);
  const mark = document.text.startsWith("\ufeff") ? "\ufeff" : "";
  let text = document.text.slice(mark.length);
  const { removeOne, setOne } = await editorOf(document);
  for (const name of remove) text = removeOne(text, [...path, name]);
  for (const [name, entry] of Object.entries(put)) text = setOne(text, [...path, name], entry);
  const after = await parseDocument(document.file, mark + text).catch(() => undefined);
  const map = fieldAt(document.tree, at);
  const kept = Object.entries(isObject(map) ? map : {}).filter(([name]) => !remove.includes(name));
  if (
    !after ||
    !isDeepStrictEqual(
      plain(after.tree),
      plain(withMap(document.tree, path, { ...Object.fromEntries(kept), ...put })),
    )
  ) {
    throw new ConfigError(
      `${document.locate(at)}: cannot be changed without changing more than that; add the hall by hand`,
    );
  }
  return mark + text;
}

interface Editor {
  removeOne(text: string, path: readonly string[]): string;
  setOne(text: string, path: readonly string[], entry: JsonObject): string;
}

async function editorOf({ file, format }: Document): Promise<Editor> {
  if (format === "json") {
    const { removeFromJson, setInJson } = await import("./json-edit.ts");
    return { removeOne: removeFromJson, setOne: setInJson };
  }
  if (format === "yaml")
    throw new ConfigError(`${file}: is YAML, which is not edited here; change it by hand`);
  const { removeFromToml, setInToml } = await import("./toml-edit.ts");
  return {
    removeOne: removeFromToml,
    setOne: (text, path, entry) => setInToml(removeFromToml(text, path), path, entry),
  };
}

function withMap(tree: JsonObject, [key, ...rest]: readonly string[], map: JsonObject): JsonObject {
  if (key === undefined) return map;
  const inner = tree[key];
  return { ...tree, [key]: withMap(isObject(inner) ? inner : {}, rest, map) };
}

/** As JSON has it, without maps that are empty: TOML cannot keep those when their last table goes. */
function plain(value: unknown): unknown {
  const read: unknown = JSON.parse(JSON.stringify(value));
  return dropEmpty(read);
}

function dropEmpty(value: unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, dropEmpty(inner)] as const);
  return Object.fromEntries(
    entries.filter(([, inner]) => !(isObject(inner) && Object.keys(inner).length === 0)),
  );
}
