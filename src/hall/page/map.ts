/**
 * Places vectors on a plane: along the two directions in which they differ most (the first two
 * principal components), found by power iteration. The same vectors give the same picture.
 */
export function spreadOut(
  vectors: readonly Float32Array[],
): readonly { readonly x: number; readonly y: number }[] {
  const size = vectors[0]?.length ?? 0;
  const mean = new Float32Array(size);
  for (const vector of vectors)
    vector.forEach((value, at) => {
      mean[at] = (mean[at] ?? 0) + value / vectors.length;
    });
  const centred = vectors.map((vector) => vector.map((value, at) => value - (mean[at] ?? 0)));
  const first = mainDirection(centred, size);
  const xs = centred.map((vector) => dot(vector, first));
  const rest = centred.map((vector, row) =>
    vector.map((value, at) => value - (xs[row] ?? 0) * (first[at] ?? 0)),
  );
  const second = mainDirection(rest, size);
  const ys = rest.map((vector) => dot(vector, second));
  const [scaledX, scaledY] = [toUnit(xs), toUnit(ys)];
  return vectors.map((_, at) => ({ x: scaledX[at] ?? 0.5, y: scaledY[at] ?? 0.5 }));
}

const rounds = 30;

function mainDirection(vectors: readonly Float32Array[], size: number): Float32Array {
  let direction = new Float32Array(size).map((_, at) => 1 / (at + 1));
  for (let round = 0; round < rounds; round++) {
    const next = new Float32Array(size);
    for (const vector of vectors) {
      const share = dot(vector, direction);
      vector.forEach((value, at) => {
        next[at] = (next[at] ?? 0) + share * value;
      });
    }
    const length = Math.sqrt(dot(next, next));
    if (length === 0) return direction;
    direction = next.map((value) => value / length);
  }
  return direction;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** By rank, so that a few odd ones do not press all others together. */
function toUnit(values: readonly number[]): readonly number[] {
  const order = values.map((_, at) => at).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = new Array<number>(values.length).fill(0.5);
  order.forEach((at, rank) => {
    ranks[at] = values.length > 1 ? rank / (values.length - 1) : 0.5;
  });
  return ranks;
}
