/** Message logging in the layouts that the conformance suite runs: which ranks fall together, and when choices are stable. */
import type { NewProtocol } from "../../protocol.ts";
import type { ConformanceLayout, ConformanceProtocols } from "../../testing/protocol-conformance.ts";
import { type KnownChoices, LoggingProtocol } from "../logging-protocol.ts";
import { InstantStream } from "./instant-stream.ts";
import { LateStream } from "./late-stream.ts";

type SetOf = (rank: number, ranks: number) => number;

const oneSet: SetOf = () => 0;
const ownSets: SetOf = (rank) => rank;
/** The last rank, which dies in the cases about deaths, is a set of its own. */
const twoSets: SetOf = (rank, ranks) => (rank === ranks - 1 ? 1 : 0);

class Layout implements ConformanceProtocols {
  readonly #setOf: Int32Array;
  readonly #streams: readonly InstantStream[];
  readonly comeBack = true;
  readonly #protocols: LoggingProtocol[] = [];

  constructor(ranks: number, setOf: SetOf, makeStream: () => InstantStream) {
    this.#setOf = Int32Array.from({ length: ranks }, (_, rank) => setOf(rank, ranks));
    this.#streams = Array.from({ length: ranks }, makeStream);
  }

  make(rank: number): NewProtocol {
    return (ports) => {
      const protocol = new LoggingProtocol({ rank, setOf: this.#setOf, stream: this.#streamOf(rank) }, ports);
      this.#protocols[rank] = protocol;
      return protocol;
    };
  }

  dataFor(rank: number): KnownChoices {
    return { log: Int32Array.from(this.#streamOf(rank).words), setOf: [...this.#setOf], parted: [] };
  }

  advance(): boolean {
    return this.#streams.map((stream) => stream instanceof LateStream && stream.settle()).includes(true);
  }

  takes(from: number, to: number): boolean {
    return this.#setOf[from] !== this.#setOf[to];
  }

  taken(rank: number): number {
    return this.#protocols[rank]!.report().messages;
  }

  #streamOf(rank: number): InstantStream {
    return this.#streams[this.#setOf[rank]!]!;
  }
}

const layout = (name: string, setOf: SetOf, makeStream: () => InstantStream): ConformanceLayout => ({
  name,
  protocols: (ranks) => new Layout(ranks, setOf, makeStream),
});

const instant = (): InstantStream => new InstantStream();
const late = (): InstantStream => new LateStream();

export const loggingLayouts: readonly ConformanceLayout[] = [
  layout("all ranks one set", oneSet, instant),
  layout("each rank a set", ownSets, instant),
  layout("two sets", twoSets, instant),
  layout("all ranks one set, stable late", oneSet, late),
  layout("each rank a set, stable late", ownSets, late),
  layout("two sets, stable late", twoSets, late),
];
