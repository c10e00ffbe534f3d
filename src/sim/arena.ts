/**
 * The memory of one simulated node: packets and the heaps of its processes, as in the real world. It grows when it must and
 * is never replaced. Where processes shall be restored from images, each owner has a region of its own, so that its blocks come
 * back to where they were, with other owners beside them. Blocks have sizes of powers of two; each carries a header that tells a free
 * block from one in use, and freed bytes are overwritten, so a pointer used after its time reads rubbish and a checker sees it.
 */
import { assert } from "../core/base/assert.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { lives } from "../core/base/saved-classes.ts";

const headerBytes = 16;
const inUse = 0x0a11_0c8d;
const inStock = 0x0f_4eed;
const poison = 0xdb;
const bytesAtStart = 1 << 14;

interface Region {
  readonly begin: number;
  end: number;
  stock: number[][];
}

export interface RegionImage {
  readonly end: number;
  readonly stock: readonly (readonly number[])[];
  readonly bytes: Uint8Array;
}

/** The first offset is never given away: 0 means "none" in packets. */
const newRegion = (begin: number): Region => ({ begin, end: begin + headerBytes, stock: [] });

export class Arena {
  static readonly unsaved = { bytes: null, words: null, buffer: null };
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  private readonly buffer: ArrayBuffer;
  /** One for all, or one for the network and one for each process. */
  private readonly regions: Region[];
  private readonly regionBytes: number;

  /** `regions`: of how many processes at most; 0: all share one. */
  constructor(bytesMax = 1 << 30, regions = 0) {
    this.regionBytes = regions === 0 ? bytesMax : Math.floor(bytesMax / (regions + 1) / 4096) * 4096;
    this.regions = Array.from({ length: regions + 1 }, (_, i) => newRegion(i * this.regionBytes));
    this.buffer = new ArrayBuffer(bytesAtStart, { maxByteLength: bytesMax });
    this.bytes = new Uint8Array(this.buffer);
    this.words = new Int32Array(this.buffer);
  }

  /** A new one of the same kind. */
  another(): Arena {
    return new Arena(this.buffer.maxByteLength, this.regions.length - 1);
  }

  /** All bytes of another one; the books come with the process that is restored. */
  copyFrom(other: Arena): void {
    if (this.bytes.length < other.bytes.length) this.buffer.resize(other.bytes.length);
    this.bytes.set(other.bytes);
  }

  /** Offset of a block, aligned to 16; its bytes are rubbish. The owner is any number, and frees it. */
  allocate(bytes: number, owner: number): number {
    const power = Math.max(5, 32 - Math.clz32(bytes + headerBytes - 1));
    const region = this.regionOf(owner);
    let block = region.stock[power]?.pop();
    if (block === undefined) {
      block = region.end;
      region.end += 2 ** power;
      this.grow(region);
      this.bytes.fill(poison, block, region.end);
    }
    this.words[block >> 2] = inUse;
    this.words[(block >> 2) + 1] = power;
    this.words[(block >> 2) + 2] = bytes;
    this.words[(block >> 2) + 3] = owner;
    return block + headerBytes;
  }

  /** Returns how many bytes were asked for. */
  free(offset: number, owner: number): number {
    const block = offset - headerBytes;
    const header = block >> 2;
    assert(
      this.words[header] === inUse,
      `block ${offset} of a simulated memory is freed, and it is not in use or its header was overwritten`,
    );
    assert(
      this.words[header + 3] === owner,
      `block ${offset} of a simulated memory is freed by ${owner}, not its owner`,
    );
    const power = this.words[header + 1]!;
    const bytes = this.words[header + 2]!;
    this.words[header] = inStock;
    this.bytes.fill(poison, offset, block + 2 ** power);
    const { stock } = this.regionOf(owner);
    stock[power] ??= [];
    stock[power].push(block);
    return bytes;
  }

  private regionOf(owner: number): Region {
    const count = this.regions.length - 1;
    return this.regions[count === 0 || owner < 0 ? 0 : 1 + (owner % count)]!;
  }

  private grow({ begin, end }: Region): void {
    const now = this.buffer.byteLength;
    if (end - begin > this.regionBytes) {
      throw new MpiError(
        ErrorClass.NO_MEM,
        `Cannot allocate: a simulated node has ${this.regionBytes} bytes, ${end - begin} are wanted`,
      );
    }
    if (end > now) this.buffer.resize(Math.min(this.buffer.maxByteLength, Math.max(end, 2 * now)));
  }

  // Regions of processes, where there are such

  /** A new life begins there: nothing is left of the one before. */
  clear(owner: number): void {
    if (this.regions.length === 1) return;
    const region = this.regionOf(owner);
    Object.assign(region, newRegion(region.begin));
  }

  /** All that is an owner's. */
  imageOf(owner: number): RegionImage {
    const { begin, end, stock } = this.regionOf(owner);
    return { end, stock: stock.map((blocks) => [...blocks]), bytes: this.bytes.slice(begin, end) };
  }

  restore(owner: number, { end, stock, bytes }: RegionImage): void {
    const region = this.regionOf(owner);
    region.end = end;
    region.stock = stock.map((blocks) => [...blocks]);
    this.grow(region);
    this.bytes.set(bytes, region.begin);
  }
}

lives({ Arena });
