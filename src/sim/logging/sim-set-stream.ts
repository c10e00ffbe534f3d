/**
 * The stream of determinants of one life of a correlated set, simulated: a client of the event logger, whose words leave after a while,
 * sooner when a rank waits for them. As nodes do, it keeps the words since the oldest image that may be restored.
 */

import { assert } from "../../core/base/assert.ts";
import { determinantHeaderWords } from "../../core/ft/determinants/determinant-entries.ts";
import type { DeterminantKind, DeterminantStream } from "../../core/ft/determinants/determinant-stream.ts";
import type { KnownStream } from "../../core/ft/logging/logging-job.ts";
import type { Random } from "../random.ts";
import { SimClient, type SimClientPorts } from "../service-channel/sim-client.ts";
import type { SimService } from "../service-channel/sim-service.ts";

interface SimSetStreamOptions {
  readonly incarnation: number;
  /** Words of the lives before, as far as the event logger has them, from a position on. */
  readonly known: KnownStream;
  readonly random: Random;
  readonly delayNsMax: number;
}

/** Longest time until words leave that a rank waits for. */
const urgentNs = 1_000;
/** Ranks wait where real ones do when their ring is full, so no set has more unacknowledged words than that. */
const unacknowledgedWordsMax = 1 << 28;

export class SimSetStream implements DeterminantStream {
  readonly client: SimClient;
  readonly #delayNsMax: number;
  #isPlanned = false;
  #isUrgent = false;

  constructor(service: SimService, options: SimSetStreamOptions, ports: SimClientPorts) {
    const { incarnation, known, random, delayNsMax } = options;
    this.#delayNsMax = delayNsMax;
    this.client = new SimClient(
      service,
      {
        client: known.set,
        incarnation,
        begin: known.from,
        known: known.words,
        random,
        delayNsMax,
        retention: "until-trimmed",
        outgoingWordsMax: unacknowledgedWordsMax,
        incomingWordsMax: 0,
      },
      ports,
    );
  }

  get born(): number {
    return this.client.end.born;
  }

  get stable(): number {
    return this.client.end.stable;
  }

  append(rank: number, kind: DeterminantKind, words: readonly number[]): void {
    const entry = Int32Array.of(determinantHeaderWords + words.length, rank, kind, ...words);
    const taken = this.client.end.append(entry, 0, entry.length);
    assert(taken === entry.length, "a simulated stream has room");
    this.#plan(false);
  }

  append3(rank: number, kind: DeterminantKind, a: number, b: number, c: number): void {
    this.append(rank, kind, [a, b, c]);
  }

  urge(): void {
    if (this.#isUrgent || this.client.end.unsent === 0) return;
    this.#isUrgent = true;
    this.#isPlanned = false;
    this.#plan(true);
  }

  #plan(isUrgent: boolean): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.client.later(isUrgent ? urgentNs : this.#delayNsMax, () => {
      this.#isPlanned = false;
      this.#isUrgent = false;
      this.client.move();
    });
  }
}
