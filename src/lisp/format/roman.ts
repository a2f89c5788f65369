/** Roman numerals: `~@r` (IV) and `~:@r` (IIII). The caller keeps the value in 1…3999, or 1…4999 for the old way. */

const numerals: readonly (readonly [number, string])[] = [
  [1000, "M"],
  [900, "CM"],
  [500, "D"],
  [400, "CD"],
  [100, "C"],
  [90, "XC"],
  [50, "L"],
  [40, "XL"],
  [10, "X"],
  [9, "IX"],
  [5, "V"],
  [4, "IV"],
  [1, "I"],
];

export function roman(value: number, isOld: boolean): string {
  let text = "";
  let rest = value;
  for (const [worth, letters] of numerals) {
    if (isOld && letters.length > 1) continue;
    while (rest >= worth) {
      text += letters;
      rest -= worth;
    }
  }
  return text;
}
