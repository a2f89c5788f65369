import { useId, useMemo, useState } from "preact/hooks";
import type { JsonObject } from "../../src/base/json.ts";

/** A tool's arguments as a form made from its schema, or as JSON. */
export function SchemaForm(props: {
  readonly schema: JsonObject;
  /** Of the button. */
  readonly label?: string;
  readonly isBusy: boolean;
  readonly submit: (args: JsonObject) => void;
}) {
  const fields = useMemo(() => fieldsOf(props.schema), [props.schema]);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [json, setJson] = useState<string>();
  const [fault, setFault] = useState("");

  function submit(event: Event): void {
    event.preventDefault();
    try {
      const args = json === undefined ? read(fields, values) : parseObject(json);
      setFault("");
      props.submit(args);
    } catch (problem) {
      setFault(problem instanceof Error ? problem.message : String(problem));
    }
  }

  function toggle(): void {
    if (json !== undefined) {
      setJson(undefined);
      return;
    }
    try {
      setJson(JSON.stringify(read(fields, values, true), null, 2));
    } catch {
      setJson("{}");
    }
  }

  return (
    <form class="stack" onSubmit={submit}>
      {json === undefined ? (
        fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            change={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))
      ) : (
        <label class="field">
          Arguments as JSON
          <textarea
            rows={8}
            spellcheck={false}
            value={json}
            onInput={(event) => setJson(event.currentTarget.value)}
          />
        </label>
      )}
      {json === undefined && fields.length === 0 && (
        <p class="soft">This tool takes no arguments.</p>
      )}
      {fault !== "" && (
        <p class="bad" role="alert">
          {fault}
        </p>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={props.isBusy}>
          {props.label ?? "Call"}
        </button>
        <button type="button" class="plain" onClick={toggle}>
          {json === undefined ? "Edit as JSON" : "Back to the form"}
        </button>
      </div>
    </form>
  );
}

interface FormField {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly options: readonly Option[] | undefined;
  readonly example: string;
}

function fieldsOf({ properties, required }: JsonObject): readonly FormField[] {
  const names = new Set(Array.isArray(required) ? required.map(String) : []);
  const all = Object.entries(isObject(properties) ? properties : {}).map(([name, given]) => {
    const schema = isObject(given) ? given : {};
    return {
      name,
      type: typeOf(schema),
      description: typeof schema.description === "string" ? schema.description : "",
      isRequired: names.has(name),
      options: optionsOf(schema),
      example: schema.default === undefined ? "" : String(JSON.stringify(schema.default)),
    };
  });
  return all.sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

interface Option {
  readonly value: unknown;
  readonly title: string;
}

/** `enum`, with names for people if there are any, or constants with titles. */
function optionsOf({ enum: values, enumNames, oneOf }: JsonObject): readonly Option[] | undefined {
  if (Array.isArray(values)) {
    const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value, title: String(titles[at] ?? value) }));
  }
  if (!Array.isArray(oneOf) || !oneOf.every((one) => isObject(one) && "const" in one))
    return undefined;
  return oneOf.map((one: JsonObject) => ({
    value: one.const,
    title: String(one.title ?? one.const),
  }));
}

function typeOf({ type }: JsonObject): string {
  const given = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  return typeof given === "string" ? given : "any";
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function FieldInput(props: {
  readonly field: FormField;
  readonly value: string;
  readonly change: (value: string) => void;
}) {
  const { field, value, change } = props;
  const id = useId();
  const note = useId();
  const common = {
    id,
    "aria-describedby": note,
    required: field.isRequired,
    value,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      change(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>
        {field.name}
        {field.isRequired && <span class="faint"> required</span>}
      </label>
      <Input field={field} common={common} />
      <small id={note}>
        {[field.type === "any" ? "JSON" : field.type, field.description]
          .filter(Boolean)
          .join(" · ")}
      </small>
    </div>
  );
}

const yesOrNo: readonly Option[] = [true, false].map((value) => ({ value, title: String(value) }));

function Input({ field, common }: { readonly field: FormField; readonly common: object }) {
  const { type, options, example } = field;
  const choices = options ?? (type === "boolean" ? yesOrNo : undefined);
  if (choices)
    return (
      <select {...common}>
        <option value="">{example === "" ? "–" : `default: ${example}`}</option>
        {choices.map(({ value, title }) => (
          <option key={title} value={JSON.stringify(value)}>
            {title}
          </option>
        ))}
      </select>
    );
  if (type === "number" || type === "integer")
    return (
      <input
        type="number"
        step={type === "integer" ? 1 : "any"}
        placeholder={example}
        {...common}
      />
    );
  if (type === "string")
    return <textarea rows={1} class="growing" placeholder={example} {...common} />;
  return <textarea rows={3} spellcheck={false} placeholder={example || "JSON"} {...common} />;
}

/** Throws for a value that cannot be read. */
function read(
  fields: readonly FormField[],
  values: Readonly<Record<string, string>>,
  isDraft = false,
): JsonObject {
  const entries = fields.flatMap((field): readonly [string, unknown][] => {
    const text = values[field.name] ?? "";
    if (text === "" && (isDraft || !field.isRequired)) return [];
    if (field.type === "string" && !field.options) return [[field.name, text]];
    try {
      return [[field.name, JSON.parse(text)]];
    } catch {
      throw new Error(`${field.name} must be ${field.type === "any" ? "JSON" : field.type}`);
    }
  });
  return Object.fromEntries(entries);
}

function parseObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (isObject(value)) return value;
  throw new Error("the arguments must be an object");
}
