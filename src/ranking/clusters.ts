// Clusters units by their sizes and similarities.

export interface Units {
  readonly sizes: readonly number[];
  /** Similarity of two units; a symmetric matrix, one row for each unit. */
  readonly likeness: Float32Array;
}

export interface Bounds {
  readonly count: number;
  /** Up to this many clusters may be left if the rest is not similar. */
  readonly countMax: number;
  /** Up to this many clusters, a small one may stay alone instead of joining unrelated tools. */
  readonly aloneMax: number;
  /** Similarity from which clusters are merged although there are few enough. */
  readonly likenessMin: number;
  /** A smaller cluster is dissolved if its units find room elsewhere. */
  readonly sizeMin: number;
  readonly sizeMax: number;
}

interface Cluster {
  readonly units: number[];
  size: number;
}

/**
 * The cluster of each unit. Merges the two most similar clusters that fit under `sizeMax` until `count` are
 * left; then units move to the cluster they fit best. If the sizes allow no other way, more are left.
 */
export function cluster(units: Units, bounds: Bounds): number[] {
  const { sizes, likeness } = units;
  const { count, sizeMax } = bounds;
  const clusters = sizes.map((size, unit): Cluster => ({ units: [unit], size }));
  const between = Float64Array.from(likeness);
  const width = sizes.length;
  const alive = clusters.map((_, at) => at);
  while (alive.length > count) {
    const pair = findPair(alive, clusters, between, width, sizeMax);
    if (pair === undefined) break;
    const [intoAt, fromAt] = pair;
    const isAkin = (between[intoAt * width + fromAt] as number) >= bounds.likenessMin;
    if (!isAkin && alive.length <= bounds.countMax) break;
    const [into, from] = [clusters[intoAt] as Cluster, clusters[fromAt] as Cluster];
    for (const other of alive) {
      const mean =
        (into.size * (between[intoAt * width + other] as number) +
          from.size * (between[fromAt * width + other] as number)) /
        (into.size + from.size);
      between[intoAt * width + other] = mean;
      between[other * width + intoAt] = mean;
    }
    into.units.push(...from.units);
    into.size += from.size;
    alive.splice(alive.indexOf(fromAt), 1);
  }
  const assigned = new Array<number>(width).fill(0);
  alive.forEach((at, place) => {
    for (const unit of clusters[at]?.units ?? []) assigned[unit] = place;
  });
  return dissolveSmall(moveToBest(assigned, units, sizeMax), units, bounds);
}

/**
 * Moves the units of surplus or too small clusters into others, if all of them find room: those of
 * a small one together if possible, those of a surplus one one by one, because it is a remainder.
 */
function dissolveSmall(assigned: readonly number[], units: Units, bounds: Bounds): number[] {
  const { countMax, sizeMin } = bounds;
  let places = [...assigned];
  for (let clusterCount = Math.max(-1, ...places) + 1; clusterCount > 1; clusterCount--) {
    const totals = sumSizes(places, units.sizes, clusterCount);
    const smallest = totals.indexOf(Math.min(...totals));
    if (clusterCount <= countMax && (totals[smallest] ?? 0) >= sizeMin) break;
    const displaced = places.flatMap((place, unit) => (place === smallest ? [unit] : []));
    const isSurplus = clusterCount > countMax;
    const moved =
      (isSurplus ? undefined : moveUnits([displaced], smallest, places, units, bounds)) ??
      moveUnits(
        displaced.map((unit) => [unit]),
        smallest,
        places,
        units,
        bounds,
      );
    if (moved === undefined) return places;
    places = moved.map((place) => (place > smallest ? place - 1 : place));
  }
  return places;
}

/**
 * The places after blocks of units have left a cluster for the most similar ones with room;
 * undefined if one finds none.
 */
function moveUnits(
  blocks: readonly (readonly number[])[],
  from: number,
  assigned: readonly number[],
  units: Units,
  { aloneMax, sizeMax }: Bounds,
): number[] | undefined {
  const clusterCount = Math.max(...assigned) + 1;
  const places = [...assigned];
  const totals = sumSizes(places, units.sizes, clusterCount);
  const sizeOf = (block: readonly number[]): number =>
    block.reduce((sum, unit) => sum + (units.sizes[unit] ?? 0), 0);
  for (const block of [...blocks].sort((a, b) => sizeOf(b) - sizeOf(a))) {
    const means = block.map((unit) => likenessTo(unit, places, units, clusterCount));
    const meanTo = (place: number): number =>
      means.reduce((sum, each) => sum + (each[place] as number), 0) / block.length;
    const [best] = [...totals.keys()]
      .filter((place) => place !== from && (totals[place] ?? 0) + sizeOf(block) <= sizeMax)
      .sort((a, b) => meanTo(b) - meanTo(a));
    const isStrange = best !== undefined && clusterCount <= aloneMax && meanTo(best) < strangeMax;
    if (best === undefined || isStrange) return undefined;
    for (const unit of block) places[unit] = best;
    totals[best] = (totals[best] ?? 0) + sizeOf(block);
  }
  return places;
}

/** Small clusters join others only above this similarity, as long as there are few. */
const strangeMax = 0.1;

function sumSizes(places: readonly number[], sizes: readonly number[], count: number): number[] {
  const totals = new Array<number>(count).fill(0);
  places.forEach((place, unit) => {
    totals[place] = (totals[place] ?? 0) + (sizes[unit] ?? 0);
  });
  return totals;
}

/** The most similar pair that fits; of equals the first, so that the result is deterministic. */
function findPair(
  alive: readonly number[],
  clusters: readonly Cluster[],
  between: Float64Array,
  width: number,
  sizeMax: number,
): readonly [number, number] | undefined {
  let best: readonly [number, number] | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < alive.length; i++) {
    const left = alive[i] as number;
    const room = sizeMax - (clusters[left]?.size ?? 0);
    for (let j = i + 1; j < alive.length; j++) {
      const right = alive[j] as number;
      const value = between[left * width + right] as number;
      if (value <= most || (clusters[right]?.size ?? 0) > room) continue;
      most = value;
      best = [left, right];
    }
  }
  return best;
}

const roundsMax = 10;

/** Moves each unit to the cluster it is most similar to, if there is room and its own does not become empty. */
function moveToBest(assigned: readonly number[], units: Units, sizeMax: number): number[] {
  const places = [...assigned];
  const { sizes } = units;
  const clusterCount = Math.max(-1, ...places) + 1;
  const totals = sumSizes(places, sizes, clusterCount);
  const members = sumSizes(
    places,
    sizes.map(() => 1),
    clusterCount,
  );
  for (let round = 0; round < roundsMax; round++) {
    let moved = false;
    for (let unit = 0; unit < sizes.length; unit++) {
      const home = places[unit] as number;
      const size = sizes[unit] as number;
      if (members[home] === 1) continue;
      const means = likenessTo(unit, places, units, clusterCount);
      let best = home;
      for (let place = 0; place < clusterCount; place++) {
        if (
          place !== home &&
          (totals[place] ?? 0) + size <= sizeMax &&
          (means[place] ?? 0) > (means[best] ?? 0) + 1e-6
        )
          best = place;
      }
      if (best === home) continue;
      places[unit] = best;
      totals[home] = (totals[home] ?? 0) - size;
      totals[best] = (totals[best] ?? 0) + size;
      members[home] = (members[home] ?? 0) - 1;
      members[best] = (members[best] ?? 0) + 1;
      moved = true;
    }
    if (!moved) break;
  }
  return places;
}

/** The mean similarity of a unit to the other tools of each cluster. */
function likenessTo(
  unit: number,
  places: readonly number[],
  { sizes, likeness }: Units,
  clusterCount: number,
): Float64Array {
  const sums = new Float64Array(clusterCount);
  const weights = new Float64Array(clusterCount);
  for (let other = 0; other < sizes.length; other++) {
    const place = places[other] as number;
    if (other === unit || place < 0) continue;
    const size = sizes[other] as number;
    sums[place] =
      (sums[place] as number) + size * (likeness[unit * sizes.length + other] as number);
    weights[place] = (weights[place] as number) + size;
  }
  return sums.map((sum, place) =>
    weights[place] === 0 ? Number.NEGATIVE_INFINITY : sum / (weights[place] as number),
  );
}
