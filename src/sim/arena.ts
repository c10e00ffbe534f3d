/**
 * The memory of one simulated node: packets and the heaps of its processes, as in the real world. It grows when it must and
 * is never replaced. Blocks have sizes of powers of two; each carries a header that tells a free block from one in use, and
 * freed bytes are overwritten, so a pointer used after its time reads rubbish and a checker sees it.
 */
import { assert } from "../core/base/assert.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { lives } from "../core/base/saved-classes.ts";

const headerBytes = 16;
const inUse = 0x0a11_0c8d;
const inStock = 0x0f_4eed;
const poison = 0xdb;
const bytesAtStart = 1 << 14;

export class Arena {
  static readonly unsaved = { bytes: null, words: null, buffer: null };
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  private readonly buffer: ArrayBuffer;
  private readonly stock: number[][] = [];
  /** Offset 0 is never given away: it means "none" in packets. */
  private end = headerBytes;

  constructor(bytesMax = 1 << 30) {
    this.buffer = new ArrayBuffer(bytesAtStart, { maxByteLength: bytesMax });
    this.bytes = new Uint8Array(this.buffer);
    this.words = new Int32Array(this.buffer);
  }

  /** All bytes of another one; the books come with the process that is restored. */
  copyFrom(other: Arena): void {
    if (this.bytes.length < other.bytes.length) this.buffer.resize(other.bytes.length);
    this.bytes.set(other.bytes);
  }

  /** Offset of a block, aligned to 16; its bytes are rubbish. The owner is any number, and frees it. */
  allocate(bytes: number, owner: number): number {
    const power = Math.max(5, 32 - Math.clz32(bytes + headerBytes - 1));
    let block = this.stock[power]?.pop();
    if (block === undefined) {
      block = this.end;
      this.end += 2 ** power;
      this.grow();
      this.bytes.fill(poison, block, this.end);
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
    this.stock[power] ??= [];
    this.stock[power].push(block);
    return bytes;
  }

  private grow(): void {
    const now = this.buffer.byteLength;
    if (this.end <= now) return;
    if (this.end > this.buffer.maxByteLength) {
      throw new MpiError(
        ErrorClass.NO_MEM,
        `Cannot allocate: a simulated node has ${this.buffer.maxByteLength} bytes, ${this.end} are wanted`,
      );
    }
    this.buffer.resize(Math.min(this.buffer.maxByteLength, Math.max(this.end, 2 * now)));
  }
}

lives({ Arena });
