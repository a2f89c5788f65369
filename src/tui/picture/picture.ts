import { Scope } from "../../base/scope.ts";
import { runInSlices } from "../../base/slices.ts";
import { isJpeg, readJpeg } from "./jpeg.ts";
import { isPng, readPng } from "./png.ts";

/** An image made small enough to be shown in characters: red, green, blue and alpha of each pixel, row after row. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

const bytesMax = 32 * 1024 * 1024;
const readMsMax = 5_000;

/** Undefined for what is no PNG and no JPEG, is damaged, or is too large or too slow to be shown. Never throws: strangers' files are read here. */
export async function readPicture(bytes: Uint8Array): Promise<Picture | undefined> {
  if (bytes.length > bytesMax) return undefined;
  const scope = new Scope(undefined, readMsMax, "the picture");
  try {
    if (isPng(bytes)) return await readPng(bytes, scope);
    if (isJpeg(bytes)) return await runInSlices(readJpeg(bytes), scope);
    return undefined;
  } catch {
    // The file is saved all the same: whoever wants to know more opens it.
    return undefined;
  } finally {
    scope.close();
  }
}
