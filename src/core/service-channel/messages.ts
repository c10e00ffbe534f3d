/**
 * Payloads of bytes as words of a stream: a head (how many bytes), the bytes, and as many zero bytes as fill the last word. A message
 * may be larger than anything between the two ends: it travels in pieces, and is seen in pieces.
 */
import { assert } from "../base/assert.ts";
import type { ChannelEnd } from "./channel.ts";

const pieceWords = 4096;

/** Puts messages into an end, one after the other. Nothing else may be appended there meanwhile. */
export class MessageWriter {
  readonly #end: Pick<ChannelEnd, "append">;
  readonly #stage = new Int32Array(pieceWords);
  readonly #stageBytes = new Uint8Array(this.#stage.buffer);
  /** Words of the stage that have not left. */
  #from = 0;
  #to = 0;
  #payload: Uint8Array = new Uint8Array(0);
  /** Bytes of the payload that have been staged. */
  #staged = 0;

  constructor(end: Pick<ChannelEnd, "append">) {
    this.#end = end;
  }

  /** False: the one before is still on its way, see `go`. The payload must stay as it is until all is gone. */
  offer(payload: Uint8Array): boolean {
    if (!this.go()) return false;
    assert(payload.length <= 0x7fffffff, `a message of ${payload.length} bytes`);
    this.#payload = payload;
    this.#stage[0] = payload.length;
    this.#staged = 0;
    this.#from = 0;
    this.#to = 1;
    this.#fill(4);
    this.go();
    return true;
  }

  /** As much as there is room for. True: all is gone, and the next message may come. */
  go(): boolean {
    for (;;) {
      if (this.#from === this.#to) {
        if (this.#staged === this.#payload.length) return true;
        this.#from = 0;
        this.#fill(0);
      }
      const taken = this.#end.append(this.#stage, this.#from, this.#to);
      if (taken === 0) return false;
      this.#from += taken;
    }
  }

  /** The next bytes, to a byte of the stage and behind it. */
  #fill(at: number): void {
    const part = this.#payload.subarray(this.#staged, this.#staged + 4 * pieceWords - at);
    this.#stageBytes.set(part, at);
    this.#staged += part.length;
    const end = at + part.length;
    this.#to = (end + 3) >> 2;
    this.#stageBytes.fill(0, end, 4 * this.#to);
  }
}

/** The receiver of messages: for each it is told the length, the bytes in pieces (valid until the call returns), the end. */
interface MessageSink {
  /** False: no client of this job sends such a message; nothing more will be heard. */
  begin(bytes: number): boolean;
  piece(bytes: Uint8Array): void;
  end(): void;
  /** The sender is gone in the middle of a message, and another has begun. */
  lost(): void;
}

/** Takes messages out of an end. */
export class MessageReader {
  readonly #end: Pick<ChannelEnd, "take" | "origin">;
  readonly #sink: MessageSink;
  readonly #stage = new Int32Array(pieceWords);
  readonly #stageBytes = new Uint8Array(this.#stage.buffer);
  #origin = 0;
  /** Bytes of the present message that have not come; −1: there is none. */
  #left = -1;
  #isBad = false;

  constructor(end: Pick<ChannelEnd, "take" | "origin">, sink: MessageSink) {
    this.#end = end;
    this.#sink = sink;
  }

  /** What came was no message of ours. */
  get isBad(): boolean {
    return this.#isBad;
  }

  /** All that has come. False: nothing had. */
  read(): boolean {
    let hasRead = false;
    while (!this.#isBad) {
      const count = this.#end.take(this.#stage);
      if (count === 0) break;
      hasRead = true;
      if (this.#end.origin !== this.#origin) this.#another(this.#end.origin);
      this.#take(count);
    }
    return hasRead;
  }

  #another(origin: number): void {
    this.#origin = origin;
    if (this.#left >= 0) this.#sink.lost();
    this.#left = -1;
  }

  #take(count: number): void {
    for (let at = 0; at < count; ) {
      if (this.#left < 0) {
        const bytes = this.#stage[at++]!;
        this.#isBad = bytes < 0 || !this.#sink.begin(bytes);
        if (this.#isBad) return;
        this.#left = bytes;
      }
      const words = Math.min(count - at, (this.#left + 3) >> 2);
      const bytes = Math.min(this.#left, 4 * words);
      if (bytes > 0) this.#sink.piece(this.#stageBytes.subarray(4 * at, 4 * at + bytes));
      at += words;
      this.#left -= bytes;
      if (this.#left > 0) return;
      this.#left = -1;
      this.#sink.end();
    }
  }
}

/** Whole messages of at most `bytesMax` bytes, one at a time. */
export class WholeMessages implements MessageSink {
  readonly #bytesMax: number;
  readonly #heard: (message: Uint8Array) => void;
  #message = new Uint8Array(0);
  #have = 0;

  constructor(bytesMax: number, heard: (message: Uint8Array) => void) {
    this.#bytesMax = bytesMax;
    this.#heard = heard;
  }

  begin(bytes: number): boolean {
    if (bytes > this.#bytesMax) return false;
    this.#message = new Uint8Array(bytes);
    this.#have = 0;
    return true;
  }

  piece(bytes: Uint8Array): void {
    this.#message.set(bytes, this.#have);
    this.#have += bytes.length;
  }

  end(): void {
    this.#heard(this.#message);
  }

  lost(): void {}
}
