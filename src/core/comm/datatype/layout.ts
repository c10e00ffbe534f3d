/**
 * Where the bytes of a datatype lie, in the order in which they are packed: a small tree of runs, lists of blocks, repeats
 * and sequences, each placed at an offset from the datatype's origin.
 *
 * Repeats are kept, never written out: a vector of a billion doubles is one node. Neighbouring blocks are merged, so a
 * contiguous piece is one run however it was described. A node is never changed; moving one costs one small object.
 */
export type Layout = Run | LayoutBlocks | Repeat | Sequence;

interface Placed {
  /** Offset of the node's origin. */
  readonly offset: number;
  /** Bytes of data: the length when packed. */
  readonly bytes: number;
  /** Lowest byte, and one behind the highest, from the datatype's origin; both 0 when there are no bytes. */
  readonly low: number;
  readonly high: number;
}
/** `bytes` bytes at `offset`. */
export interface Run extends Placed {
  readonly kind: "run";
}
/** Blocks of their own length at their own place; never fewer than two, never empty ones. */
interface LayoutBlocks extends Placed {
  readonly kind: "blocks";
  readonly offsets: readonly number[];
  readonly lengths: readonly number[];
}
/** `count` copies of `child`, the i-th at offset + i × stride. */
interface Repeat extends Placed {
  readonly kind: "repeat";
  readonly count: number;
  readonly stride: number;
  readonly child: Layout;
}
/** Nodes one after the other, where writing them out as blocks would take too much memory. */
interface Sequence extends Placed {
  readonly kind: "sequence";
  readonly children: readonly Layout[];
}

/** A list of parts is written out as blocks up to this many; a part that repeats more often than `copiesMax` stays a repeat. */
const blocksMax = 4096;
const copiesMax = 64;

export const emptyLayout: Run = { kind: "run", offset: 0, bytes: 0, low: 0, high: 0 };

export function run(offset: number, bytes: number): Run {
  return bytes === 0 ? emptyLayout : { kind: "run", offset, bytes, low: offset, high: offset + bytes };
}

export function shift(layout: Layout, by: number): Layout {
  if (by === 0 || layout.bytes === 0) return layout;
  return { ...layout, offset: layout.offset + by, low: layout.low + by, high: layout.high + by };
}

export function repeat(child: Layout, count: number, stride: number): Layout {
  if (count === 0 || child.bytes === 0) return emptyLayout;
  if (count === 1) return child;
  if (child.kind === "run" && child.bytes === stride) return run(child.offset, child.bytes * count);
  if (child.kind === "repeat" && child.count * child.stride === stride) {
    return shift(repeat(child.child, child.count * count, child.stride), child.offset);
  }
  if (child.kind === "blocks" && child.offsets.length * count <= blocksMax && endsTouch(child, stride)) {
    const list = new BlockList();
    for (let i = 0; i < count; i++) list.add(child, i * stride);
    return list.layout();
  }
  const span = (count - 1) * stride;
  return {
    kind: "repeat",
    offset: 0,
    bytes: child.bytes * count,
    low: child.low + Math.min(0, span),
    high: child.high + Math.max(0, span),
    count,
    stride,
    child,
  };
}

/** Does the last block of one copy end where the first of the next begins? Written out, the two merge. */
function endsTouch({ offsets, lengths }: LayoutBlocks, stride: number): boolean {
  const last = offsets.length - 1;
  return offsets[last]! + lengths[last]! === offsets[0]! + stride;
}

/** The parts one after the other, each where its offsets say. */
export function layoutsInSequence(parts: readonly Layout[]): Layout {
  let blocks = 0;
  for (const part of parts) blocks += part.kind === "run" ? 0 : blockCount(part);
  const writeOut = blocks <= blocksMax;
  const children: Layout[] = [];
  let list = new BlockList();
  const flush = (): void => {
    if (list.offsets.length > 0) children.push(list.layout());
    list = new BlockList();
  };
  for (const part of parts) {
    if (part.kind === "run" || (writeOut && blockCount(part) <= copiesMax)) list.add(part, 0);
    else {
      flush();
      children.push(part);
    }
  }
  flush();
  if (children.length < 2) return children[0] ?? emptyLayout;
  return {
    kind: "sequence",
    offset: 0,
    bytes: children.reduce((sum, child) => sum + child.bytes, 0),
    low: children.reduce((low, child) => Math.min(low, child.low), Number.POSITIVE_INFINITY),
    high: children.reduce((high, child) => Math.max(high, child.high), Number.NEGATIVE_INFINITY),
    children,
  };
}

/** How many blocks the layout would be if it were written out. */
export function blockCount(layout: Layout): number {
  switch (layout.kind) {
    case "run":
      return layout.bytes === 0 ? 0 : 1;
    case "blocks":
      return layout.offsets.length;
    case "repeat":
      return layout.count * blockCount(layout.child);
    case "sequence":
      return layout.children.reduce((sum, child) => sum + blockCount(child), 0);
  }
}

/** Blocks in packing order; one that begins where the last ends makes that one longer. */
class BlockList {
  readonly offsets: number[] = [];
  readonly #lengths: number[] = [];

  add(layout: Layout, base: number): void {
    const at = base + layout.offset;
    switch (layout.kind) {
      case "run":
        if (layout.bytes > 0) this.#push(at, layout.bytes);
        break;
      case "blocks":
        for (let i = 0; i < layout.offsets.length; i++) this.#push(at + layout.offsets[i]!, layout.lengths[i]!);
        break;
      case "repeat":
        for (let i = 0; i < layout.count; i++) this.add(layout.child, at + i * layout.stride);
        break;
      case "sequence":
        for (const child of layout.children) this.add(child, at);
        break;
    }
  }

  #push(offset: number, bytes: number): void {
    const last = this.offsets.length - 1;
    if (last >= 0 && this.offsets[last]! + this.#lengths[last]! === offset) this.#lengths[last]! += bytes;
    else {
      this.offsets.push(offset);
      this.#lengths.push(bytes);
    }
  }

  /** One run, a repeat of one run where lengths and distances are all the same, or the list. */
  layout(): Layout {
    const [offsets, lengths] = [this.offsets, this.#lengths];
    const count = offsets.length;
    const [first, length] = [offsets[0]!, lengths[0]!];
    if (count === 1) return run(first, length);
    const stride = offsets[1]! - first;
    let [isRegular, bytes, low, high] = [true, 0, first, first];
    for (let i = 0; i < count; i++) {
      const [offset, block] = [offsets[i]!, lengths[i]!];
      isRegular &&= block === length && offset === first + i * stride;
      bytes += block;
      low = Math.min(low, offset);
      high = Math.max(high, offset + block);
    }
    if (isRegular) return repeat(run(first, length), count, stride);
    return { kind: "blocks", offset: 0, bytes, low, high, offsets, lengths };
  }
}
