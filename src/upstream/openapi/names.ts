import { hash } from "node:crypto";

/** Names that are unique and that every client accepts. */
export interface Names {
  /** `place` distinguishes a second argument of the same name: `header_id`. */
  take(wanted: string, place?: string): string;
}

const lengthMax = 64;

export function createNames(): Names {
  const taken = new Set<string>();
  return {
    take(wanted, place) {
      const first = shorten(clean(wanted), wanted);
      const other = place === undefined ? first : shorten(`${place}_${first}`, wanted);
      let name = first;
      for (let count = 1; taken.has(name.toLowerCase()); count++)
        name = count === 1 ? other : `${other.slice(0, lengthMax - 5)}_${count}`;
      taken.add(name.toLowerCase());
      return name;
    },
  };
}

/** Its id, else its method and path: `GET /pets/{id}` becomes `get_pets_id`. */
export function nameOperation(id: string, method: string, path: string): string {
  return clean(id) === "" ? `${method}_${path}` : id;
}

function clean(text: string): string {
  // Two underscores in a row separate server and tool.
  return text.replace(/[^A-Za-z0-9-]+/g, "_").replace(/^_+|_+$/g, "");
}

function shorten(name: string, whole: string): string {
  if (name === "") return "value";
  // The end of a long name may be what distinguishes it.
  return name.length <= lengthMax
    ? name
    : `${name.slice(0, 55)}_${hash("sha256", whole).slice(0, 8)}`;
}
