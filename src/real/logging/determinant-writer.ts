/** A rank's end of the stream of determinants of its set: entries as words of the channel to the event logger. */
import { determinantHeaderWords } from "../../core/ft/determinants/determinant-entries.ts";
import { DeterminantKind, type DeterminantStream } from "../../core/ft/determinants/determinant-stream.ts";
import type { PlaneRecorder } from "../data-plane/plane-recorder.ts";
import type { Napper } from "../process/waiting.ts";
import type { SharedChannel } from "../service-channel/channel-ring.ts";
import { ChannelThread } from "../service-channel/channel-thread.ts";

export class DeterminantWriter implements DeterminantStream, Napper {
  readonly #channel: ChannelThread;
  /** The entry that is being appended, to make none for each. */
  readonly #entry: number[] = [];

  /** `bell` wakes the main thread for a rank that waits, `quietBell` sends determinants before any rank waits. */
  constructor(channel: SharedChannel, bell: Int32Array, quietBell = bell) {
    this.#channel = new ChannelThread(channel, bell, quietBell);
  }

  get born(): number {
    return this.#channel.born;
  }

  get stable(): number {
    return this.#channel.stable;
  }

  append(rank: number, kind: DeterminantKind, data: readonly number[]): void {
    const entry = this.#entry;
    entry.length = 0;
    entry.push(determinantHeaderWords + data.length, rank, kind);
    for (let i = 0; i < data.length; i++) entry.push(data[i]!);
    this.#channel.appendWhole(entry);
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    this.#channel.append6(determinantHeaderWords + 3, rank, kind, a, b, c);
  }

  /** For the data plane of that rank. */
  recorderOf(rank: number): PlaneRecorder {
    const channel = this.#channel;
    return {
      append6: channel.appendCall6,
      late(outcome, number, source, sequence) {
        channel.appended6(outcome, [
          ...[determinantHeaderWords + 3, rank, DeterminantKind.MATCH],
          ...[number, source, sequence],
        ]);
      },
    };
  }

  urge(): void {
    this.#channel.urge();
  }

  nap(): boolean {
    return this.#channel.nap();
  }

  get readyFd(): number {
    return this.#channel.readyFd;
  }

  takeWaiting(): boolean {
    return this.#channel.takeWaiting();
  }
}
