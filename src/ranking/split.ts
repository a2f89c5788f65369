import type { CorpusSnapshot } from "./corpus.ts";
import { likenessOf, profileOf, type TextProfile } from "./likeness.ts";

const roundsMax = 12;

/**
 * Splits the documents of one toolkit into as few parts of similar tools as `sizeMax` allows: k-means with
 * a limit on each part. The first centres are as far apart as possible, so the result is deterministic.
 */
export function splitDocuments(
  documents: readonly number[],
  sizeMax: number,
  snapshot: CorpusSnapshot,
): number[][] {
  if (documents.length === 0) return [];
  if (documents.length <= sizeMax) return [[...documents]];
  const profiles = documents.map((document) => profileOf([document], snapshot));
  const count = Math.ceil(documents.length / sizeMax);
  let centres = chooseCentres(profiles, count);
  let places: number[] = [];
  const membersOf = (place: number): number[] => documents.filter((_, at) => places[at] === place);
  for (let round = 0; round < roundsMax; round++) {
    const next = assign(profiles, centres, sizeMax);
    if (next.every((place, at) => place === places[at])) break;
    places = next;
    centres = centres.map((centre, place) =>
      next.includes(place) ? profileOf(membersOf(place), snapshot) : centre,
    );
  }
  return centres.map((_, place) => membersOf(place)).filter(({ length }) => length > 0);
}

function chooseCentres(profiles: readonly TextProfile[], count: number): TextProfile[] {
  const centres = [profiles[0] as TextProfile];
  const nearest = profiles.map((profile) => likenessOf(profile, centres[0] as TextProfile));
  while (centres.length < count) {
    const next = profiles[nearest.indexOf(Math.min(...nearest))] as TextProfile;
    centres.push(next);
    profiles.forEach((profile, at) => {
      nearest[at] = Math.max(nearest[at] as number, likenessOf(profile, next));
    });
  }
  return centres;
}

/** The most similar pairs first; later documents take the best part that has room. */
function assign(
  profiles: readonly TextProfile[],
  centres: readonly TextProfile[],
  sizeMax: number,
): number[] {
  const choices = profiles.flatMap((profile, at) =>
    centres.map((centre, place) => ({ at, place, likeness: likenessOf(profile, centre) })),
  );
  choices.sort((a, b) => b.likeness - a.likeness || a.at - b.at || a.place - b.place);
  const places = new Array<number>(profiles.length).fill(-1);
  const sizes = centres.map(() => 0);
  for (const { at, place } of choices) {
    if (places[at] !== -1 || (sizes[place] ?? 0) >= sizeMax) continue;
    places[at] = place;
    sizes[place] = (sizes[place] ?? 0) + 1;
  }
  return places;
}
