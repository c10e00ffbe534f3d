/**
 * Restores the records of an image file into a fresh memory. The caller reads the file in order: it passes the bytes of a head,
 * gets the places to which the body is to be read (raw pages straight to their places in memory), reads, and reports.
 *
 * Nothing in the file is trusted: checksums are compared before bytes are used, addresses are checked before anything is read
 * to them. A memory into which a damaged image was read halfway must be thrown away.
 *
 * An image that is only checked (`ImageDecoder.checking`) needs no memory of its size: every chunk is read to the same place, one after
 * the other.
 */
import { assert, unreachable } from "../core/base/assert.ts";
import { checksumOf } from "./checksum.ts";
import { type Codec, rawCodec } from "./codec.ts";
import { headerBytesMax } from "./header.ts";
import { ImageError } from "./image-error.ts";
import { MemoryKernel, pageBytes } from "./kernel.ts";
import { chunkBytes, type PageSet } from "./page-set.ts";
import { damaged, decodeHead, gapBytes, ImageRecordKind, type RecordHead, startBytes } from "./record.ts";
import { type Trailer, trailerBytes } from "./trailer.ts";

/** Far more than the state of the runtime needs; a larger claim in the file is refused unread. */
const stateBytesMax = 2 ** 31 - 1;

interface DecoderOptions {
  readonly memory: WebAssembly.Memory;
  readonly codecs: readonly Codec[];
  readonly trailer: Trailer;
}

interface CheckOptions {
  /** Room for one chunk. */
  readonly window: WebAssembly.Memory;
  /** Of the captured memory, as the header says. */
  readonly memoryBytes: number;
  readonly codecs: readonly Codec[];
  readonly trailer: Trailer;
}

export class ImageDecoder {
  readonly #memory: Uint8Array;
  readonly #memoryBytes: number;
  /** All chunks are read to the beginning of the memory. */
  readonly #isCheck: boolean;
  readonly #kernel: MemoryKernel;
  readonly #codecs: readonly Codec[];
  readonly #trailer: Trailer;
  #state: Uint8Array | undefined;
  #at = startBytes;
  #records = 0;
  #pages = 0;
  #chain = 0n;
  /** The record whose body is being read, and the places to read it to. */
  #head: RecordHead | undefined;
  #targets: readonly Uint8Array[] = [];
  /** The padding before the body, zeros in a correct file; part of `gaps`, which serves all records. */
  #gap = new Uint8Array(0);
  readonly #gaps = new Uint8Array(pageBytes);

  constructor({ memory, codecs, trailer }: DecoderOptions, checkedBytes: number | null = null) {
    this.#memory = new Uint8Array(memory.buffer);
    this.#memoryBytes = checkedBytes ?? this.#memory.length;
    this.#isCheck = checkedBytes !== null;
    this.#kernel = new MemoryKernel(memory);
    this.#codecs = codecs;
    this.#trailer = trailer;
  }

  /** Checks everything that a restore would check, and restores nothing. */
  static checking({ window, memoryBytes, codecs, trailer }: CheckOptions): ImageDecoder {
    assert(window.buffer.byteLength >= chunkBytes, "the window has room for a chunk");
    return new ImageDecoder({ memory: window, codecs, trailer }, memoryBytes);
  }

  /** Offset of the next head in the file; undefined when the next record is the end. */
  get nextHeadAt(): number | undefined {
    return this.#at === this.#recordsEnd ? undefined : this.#at;
  }

  /** The places to which the body behind this head is to be read, piece by piece. */
  begin(headBytes: Uint8Array): readonly Uint8Array[] {
    assert(this.#head === undefined, "a body is read before the next head");
    const head = decodeHead(headBytes, this.#at);
    const gap = this.#gaps.subarray(0, gapBytes(head, this.#at));
    const next = this.#at + headBytes.length + gap.length + head.bytes;
    if (next > this.#recordsEnd) throw damaged(`the head of the record at byte ${this.#at}`);
    this.#checkPlace(head);
    this.#targets = this.#targetsOf(head);
    this.#chain = checksumOf(headBytes, this.#chain);
    this.#records++;
    this.#head = head;
    this.#gap = gap;
    this.#at = next;
    return [gap, ...this.#targets];
  }

  /** The caller has filled the targets. */
  end(): void {
    const head = this.#head;
    assert(head !== undefined, "a body follows a head");
    this.#head = undefined;
    if (!isZero(this.#gap)) throw damaged(`what stands before byte ${this.#at - head.bytes}`);
    switch (head.kind) {
      case ImageRecordKind.chunk:
        this.#putChunk(head);
        return;
      case ImageRecordKind.state:
        this.#state = checked(head, this.#targets[0]!, "its state");
        return;
      case ImageRecordKind.header:
        checked(head, this.#targets[0]!, "its header");
        return;
      case ImageRecordKind.end:
        throw damaged("its end");
      default:
        unreachable(head.kind);
    }
  }

  /** After the last record: the state. */
  finish(): Uint8Array {
    const { records, pages, chain } = this.#trailer;
    if (records !== this.#records || pages !== this.#pages || chain !== this.#chain || this.#state === undefined) {
      throw new ImageError("its records are not those its end speaks of; use an older image or copy this one again");
    }
    return this.#state;
  }

  get #recordsEnd(): number {
    return this.#trailer.fileBytes - trailerBytes;
  }

  /** State and header exist once each, at the places that the end names, with plausible sizes. */
  #checkPlace({ kind, bytes }: RecordHead): void {
    if (kind === ImageRecordKind.chunk) return;
    const isState = kind === ImageRecordKind.state;
    const place = isState ? this.#trailer.stateAt : this.#trailer.headerAt;
    const bytesMax = isState ? stateBytesMax : headerBytesMax;
    if (this.#at !== place || bytes > bytesMax) throw damaged(`the head of the record at byte ${this.#at}`);
  }

  #targetsOf(head: RecordHead): readonly Uint8Array[] {
    if (head.kind !== ImageRecordKind.chunk) return [new Uint8Array(head.bytes)];
    const memoryPages = this.#memoryBytes / pageBytes;
    const first = head.address / pageBytes;
    for (const { to } of [...head.pages.runs(), ...head.zeroed.runs()]) {
      if (first + to > memoryPages) throw this.#outside(head);
    }
    const pagesBytes = head.pages.size * pageBytes;
    this.#pages += head.pages.size;
    if (head.codec !== rawCodec) {
      if (head.bytes >= pagesBytes) throw damaged(`the chunk at address ${head.address}`);
      return [new Uint8Array(head.bytes)];
    }
    if (head.bytes !== pagesBytes) throw damaged(`the chunk at address ${head.address}`);
    return this.#placesOf(head, head.pages);
  }

  #placesOf({ address }: RecordHead, pages: PageSet): Uint8Array[] {
    const first = this.#isCheck ? 0 : address;
    return pages.runs().map(({ from, to }) => this.#memory.subarray(first + from * pageBytes, first + to * pageBytes));
  }

  #putChunk(head: RecordHead): void {
    const what = `the chunk at address ${head.address}`;
    if (head.codec === rawCodec) {
      this.#kernel.begin(0n);
      for (const { byteOffset, length } of this.#targets) this.#kernel.update(byteOffset, length);
      if (this.#kernel.finish(0, 0) !== head.checksum) throw damaged(what);
    } else {
      const pages = this.#unpack(head, checked(head, this.#targets[0]!, what));
      if (this.#isCheck) return;
      let at = 0;
      for (const place of this.#placesOf(head, head.pages)) {
        place.set(pages.subarray(at, at + place.length));
        at += place.length;
      }
    }
    if (this.#isCheck) return;
    for (const place of this.#placesOf(head, head.zeroed)) place.fill(0);
  }

  #unpack(head: RecordHead, stored: Uint8Array): Uint8Array {
    const codec = this.#codecs.find(({ number }) => number === head.codec);
    if (codec === undefined) {
      throw new ImageError(
        `it uses codec ${head.codec}, which this Banyan does not know; use the version that wrote it`,
      );
    }
    const bytes = head.pages.size * pageBytes;
    assert(bytes <= chunkBytes, "a set of pages is of one chunk");
    try {
      const pages = codec.decompress(stored, bytes);
      if (pages.length === bytes) return pages;
    } catch {
      // Treated like a wrong length: the checksum was right, so the record was written like that.
    }
    throw new ImageError(`the chunk at address ${head.address} cannot be unpacked; use an older image`);
  }

  #outside({ address }: RecordHead): ImageError {
    return new ImageError(
      `it has pages at address ${address}, outside the memory of ${this.#memoryBytes} bytes; restore into a memory of the size it was captured from`,
    );
  }
}

/** A loop, because `every` takes as long for 4 KiB as the checksum of a whole chunk. */
function isZero(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** Also checks the body of a record that is no chunk, for callers that read a single record. */
export function checked(head: RecordHead, body: Uint8Array, what: string): Uint8Array {
  if (checksumOf(body) !== head.checksum) throw damaged(what);
  return body;
}
