import { circle, line, paint, type Shape } from "./shapes.ts";
import type { Stage } from "./stage.ts";

/** What falls before everything else: rain or snow, where a word says so. */
export function drawWeather({ random }: Stage, words: readonly string[]): Shape[] {
  if (words.some((word) => /^(rain|rainy|storm|stormy)$/.test(word))) {
    return Array.from({ length: 130 }, () => {
      const [x, y, length] = [random() * 1.1, random(), 0.02 + random() * 0.03];
      return paint(line(x, y, x - length * 0.3, y + length, 0.0009), [210, 222, 234], {
        alpha: 0.5,
        isOutlined: false,
      });
    });
  }
  if (!words.some((word) => /^(snow|snowy|snowing|blizzard|christmas)$/.test(word))) return [];
  return Array.from({ length: 150 }, () => {
    const size = 0.0015 + random() ** 2 * 0.0055;
    return paint(circle(random(), random(), size), [252, 253, 255], {
      to: [252, 253, 255],
      alpha: 0.85,
      softness: size * 0.6,
      isOutlined: false,
    });
  });
}
