// Which constants of a program each of its parts needs, so that a part brings what only it looks at. The linker wrote down what every constant is and
// which refer to which (`--emit-relocs`; WebAssembly's tool-conventions, Linking.md); which a part's functions refer to is read off their numbers.
// What must not be here: which functions a part has (`split.mjs`).

const [CUSTOM, CODE, DATA] = [0, 10, 11];
const [OF_SEGMENTS, OF_SYMBOLS] = [5, 8];
const [A_FUNCTION, A_DATUM, A_GLOBAL, A_SECTION, A_TAG, A_TABLE] = [0, 1, 2, 3, 4, 5];
const [UNDEFINED, NAMED] = [0x10, 0x40];
const [A_SLOT, AN_ADDRESS] = [2, 5];
// A number this near to a constant may be its place: one before its begin, or behind its end.
const NEAR = 16;
// Constants with fewer bytes between them are put into a part as one, with what is between them.
const APART = 16;

const reader = (bytes, at = 0) => {
  const number = (isSigned) => {
    let [value, factor, byte] = [0, 1, 0];
    do {
      byte = bytes[at++];
      value += (byte & 0x7f) * factor;
      factor *= 128;
    } while (byte & 0x80);
    return isSigned && byte & 0x40 ? value - factor : value;
  };
  const skip = (length) => (at += length) - length;
  const text = () => {
    const [length, start] = [number(), at];
    return new TextDecoder().decode(bytes.subarray(start, skip(length) + length));
  };
  return { byte: () => bytes[at++], number, signed: () => number(true), skip, text, here: () => at, isDone: () => at >= bytes.length };
};

const sections = (bytes) => {
  const [found, read] = [[], reader(bytes, 8)];
  while (!read.isDone()) {
    const [kind, length] = [read.byte(), read.number()];
    const start = read.skip(length);
    found.push({ kind, bytes: bytes.subarray(start, start + length), end: start + length });
  }
  return found;
};

// What is put into memory: where, and which bytes of the section.
const segmentsOf = (section) => {
  const read = reader(section);
  return Array.from({ length: read.number() }, () => {
    read.skip(2);
    const address = read.signed();
    read.skip(1);
    const length = read.number();
    return { address, length, at: read.skip(length) };
  });
};

const custom = (all, wanted) => {
  for (const { kind, bytes } of all) {
    const read = reader(bytes);
    if (kind === CUSTOM && read.text() === wanted) return [bytes, read];
  }
  throw new Error(`the linker wrote no section ${wanted}`);
};

// The names of segments, and symbols: for each of a constant, its segment, its place in it and its length.
const symbolsOf = (all) => {
  const [, read] = custom(all, "linking");
  let [names, symbols] = [[], []];
  read.number();
  const symbol = () => {
    const [kind, flags] = [read.byte(), read.number()];
    if (kind === A_DATUM) {
      read.text();
      return flags & UNDEFINED ? null : { segment: read.number(), offset: read.number(), length: read.number() };
    }
    if (![A_FUNCTION, A_GLOBAL, A_SECTION, A_TAG, A_TABLE].includes(kind)) throw new Error(`the linker wrote a symbol of an unknown kind ${kind}`);
    read.number();
    if (kind !== A_SECTION && (!(flags & UNDEFINED) || flags & NAMED)) read.text();
    return null;
  };
  const segment = () => {
    const name = read.text();
    read.number();
    read.number();
    return name;
  };
  while (!read.isDone()) {
    const [kind, length] = [read.byte(), read.number()];
    const start = read.here();
    if (kind === OF_SEGMENTS) names = Array.from({ length: read.number() }, segment);
    if (kind === OF_SYMBOLS) symbols = Array.from({ length: read.number() }, symbol);
    read.skip(start + length - read.here());
  }
  return [names, symbols];
};

// The constants of a linked program, in order and apart, and those that each refers to; and those to which data refer that can be changed.
const constantsOf = (bytes) => {
  const all = sections(bytes);
  const segments = segmentsOf(all.find(({ kind }) => kind === DATA).bytes);
  const [names, symbols] = symbolsOf(all);
  const isConstant = (symbol) => symbol?.length > 0 && names[symbol.segment]?.startsWith(".rodata");
  const start = ({ segment, offset }) => segments[segment].address + offset;
  const ranges = symbols.filter(isConstant).map((symbol) => [start(symbol), start(symbol) + symbol.length]);
  const [constants, always] = [[], []];
  for (const [begin, end] of ranges.sort(([one], [other]) => one - other)) {
    const last = constants.at(-1);
    if (last && begin < last.end) last.end = Math.max(last.end, end);
    else constants.push({ begin, end, refersTo: [] });
  }
  const [, read] = custom(all, "reloc.DATA");
  read.number();
  for (let left = read.number(); left > 0; left -= 1) {
    const [kind, at, index] = [read.byte(), read.number(), read.number()];
    if (kind === A_SLOT) continue;
    if (kind !== AN_ADDRESS) throw new Error(`the linker wrote an unknown kind of reference ${kind}`);
    read.signed();
    const from = segments.find((segment) => segment.at <= at && at < segment.at + segment.length);
    const [holder] = near(constants, from.address + at - from.at, 0);
    const to = isConstant(symbols[index]) ? near(constants, start(symbols[index]), 0) : [];
    (holder?.refersTo ?? always).push(...to);
  }
  return { constants, always };
};

// The constants that a place is in, or near to.
const near = (constants, place, far = NEAR) => {
  let [low, high] = [0, constants.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (constants[middle].end + far <= place) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (; low < constants.length && constants[low].begin - far <= place; low += 1) found.push(constants[low]);
  return found;
};

const withAll = (some) => {
  const [found, left] = [new Set(some), [...some]];
  while (left.length > 0) {
    for (const next of left.pop().refersTo) {
      if (!found.has(next)) left.push(next);
      found.add(next);
    }
  }
  return found;
};

const written = (number, isSigned) => {
  const bytes = [];
  for (;;) {
    const low = number & 0x7f;
    number >>= 7;
    const isLast = isSigned ? number === (low & 0x40 ? -1 : 0) : number === 0;
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
};

// A program, which has no data, with these.
const withData = (program, data) => {
  const segments = data.map(({ address, bytes }) => Buffer.concat([Buffer.from([0, 0x41, ...written(address, true), 0x0b, ...written(bytes.length)]), bytes]));
  const body = Buffer.concat([Buffer.from(written(segments.length)), ...segments]);
  const code = sections(program).find(({ kind }) => kind === CODE);
  return Buffer.concat([program.subarray(0, code.end), Buffer.from([DATA, ...written(body.length)]), body, program.subarray(code.end)]);
};

// The parts of a program, each with its constants: the first has what it needs and all that is no constant, each other has what the first has not.
// `linked` is the program as the linker wrote it, `whole` the program before it was split. A part has its `binary`, without data, and the `numbers` in
// its functions.
export const withConstants = (linked, whole, [first, ...others]) => {
  const { constants, always } = constantsOf(linked);
  const section = sections(whole).find(({ kind }) => kind === DATA).bytes;
  const segments = segmentsOf(section);
  const low = Math.min(...segments.map(({ address }) => address));
  const memory = new Uint8Array(Math.max(...segments.map(({ address, length }) => address + length)) - low);
  for (const { address, at, length } of segments) memory.set(section.subarray(at, at + length), address - low);
  const needed = ({ numbers }, more = []) => withAll([...more, ...[...numbers].flatMap((number) => near(constants, number))]);
  const kept = needed(first, always);
  const moved = others.map((part) => [...needed(part)].filter((constant) => !kept.has(constant)).sort((one, other) => one.begin - other.begin));
  const data = moved.map((part) => {
    const runs = [];
    for (const { begin, end } of part) {
      if (runs.length > 0 && begin - runs.at(-1).end < APART) runs.at(-1).end = end;
      else runs.push({ begin, end });
    }
    return runs.map(({ begin, end }) => ({ address: begin, bytes: memory.slice(begin - low, end - low) }));
  });
  // Nothing but zeros is where constants were: they pack to nothing, and more segments would not.
  for (const { begin, end } of moved.flat()) memory.fill(0, begin - low, end - low);
  return [withData(first.binary, [{ address: low, bytes: memory }]), ...others.map((part, at) => withData(part.binary, data[at]))];
};
