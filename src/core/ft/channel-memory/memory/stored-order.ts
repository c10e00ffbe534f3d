/**
 * Things in the order of their numbers, all of them in a store, and the newest of them in memory: messages to a receiver, or its events. Older
 * ones are known by blocks: numbers that follow each other, and the words of one segment among which their records are. A block is one read.
 *
 * A block ends with its segment, after `blockItemsMax` things, or where its words would be more than `blockWordsMax`, because things of
 * other orders stand between: so what is not in memory costs a few bytes for each thing at the worst, and far less where many come together.
 */

/** Something that has its number, and where its record stands: the first word of its frame, and the one behind its last. */
export interface StoredItem {
  readonly number: number;
  readonly segment: number;
  readonly at: number;
  readonly end: number;
  /** How much memory it needs, in units of one small message. */
  readonly weight: number;
}

/** Numbers from `first` on whose records are in these words of a segment, among others. */
export interface Block {
  readonly first: number;
  count: number;
  readonly segment: number;
  readonly from: number;
  to: number;
  /** Of entries of a home: a group of ranks that they speak of, the first and the last of their messages' numbers here, in turn. */
  readonly senders: number[];
}

/** The weight of all that is in memory, in whichever order. */
export interface Weight {
  sum: number;
}

const blockItemsMax = 1 << 10;
const blockWordsMax = 1 << 16;

export class StoredOrder<Item extends StoredItem> {
  /** Nothing before this number is needed. */
  begin = 0;
  /** Of things that are not in memory, by their numbers. */
  readonly blocks: Block[] = [];
  /** Those that are in memory, from one number on. */
  #newest: Item[] = [];
  #newestBegin = 0;
  readonly #weight: Weight;

  constructor(weight: Weight) {
    this.#weight = weight;
  }

  get end(): number {
    return this.#newestBegin + this.#newest.length;
  }

  /** How many are in memory. */
  get inMemory(): number {
    return this.#newest.length;
  }

  isInMemory(number: number): boolean {
    return number >= this.#newestBegin;
  }

  /** Undefined: it is not in memory. */
  at(number: number): Item | undefined {
    return this.#newest[number - this.#newestBegin];
  }

  /** Another one, behind all others. Of a store that is being read some may be missing between, which are freed later. */
  add(item: Item, passed: (item: Item, block: Block) => void): void {
    if (item.number > this.end) {
      this.pass(this.inMemory, passed);
      this.#newestBegin = item.number;
    }
    this.#newest.push(item);
    this.#weight.sum += item.weight;
  }

  /** So many of the oldest leave the memory; `passed` hears of each, and of its block. */
  pass(count: number, passed: (item: Item, block: Block) => void): void {
    for (const item of this.#take(count)) passed(item, this.#blockFor(item));
  }

  /** Nothing before that number is needed any more. Returns what was in memory of that. */
  freeBefore(number: number): Item[] {
    this.begin = Math.max(this.begin, number);
    const kept = this.blocks.findIndex(({ first, count }) => first + count > this.begin);
    this.blocks.splice(0, kept < 0 ? this.blocks.length : kept);
    const freed = this.#take(Math.max(0, Math.min(this.inMemory, number - this.#newestBegin)));
    this.#newestBegin = Math.max(this.#newestBegin, number);
    return freed;
  }

  /** The block that has that number, which is needed and not in memory. */
  blockOf(number: number): Block | undefined {
    let low = 0;
    let high = this.blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.blocks[middle]!.first <= number) low = middle + 1;
      else high = middle;
    }
    const block = this.blocks[low - 1];
    return block !== undefined && number < block.first + block.count ? block : undefined;
  }

  /** Is everything here, from the first number that is needed on? */
  get isWhole(): boolean {
    let next = this.begin;
    for (const { first, count } of this.blocks) {
      if (first > next) return false;
      next = first + count;
    }
    return this.#newestBegin <= next;
  }

  #take(count: number): Item[] {
    const taken = this.#newest.splice(0, count);
    this.#newestBegin += count;
    for (const { weight } of taken) this.#weight.sum -= weight;
    return taken;
  }

  #blockFor({ number, segment, at, end }: Item): Block {
    const last = this.blocks.at(-1);
    if (
      last?.segment === segment &&
      last.first + last.count === number &&
      last.count < blockItemsMax &&
      end - last.from <= blockWordsMax
    ) {
      last.count++;
      last.to = end;
      return last;
    }
    const block: Block = { first: number, count: 1, segment, from: at, to: end, senders: [] };
    this.blocks.push(block);
    return block;
  }
}
