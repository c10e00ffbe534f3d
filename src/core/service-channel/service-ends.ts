/** A service whose user speaks with its clients through ends: one for each, of the client's newest life. */
import type { ChannelEnd, ChannelHello } from "./channel.ts";
import { wordsBetween } from "./channel.ts";
import { MemoryIncoming, MemoryOutgoing } from "./memory-streams.ts";
import type { ServiceStreams, ServiceUser } from "./service-clients.ts";

interface ServiceEndsOptions {
  readonly outgoingWordsMax: number;
  readonly incomingWordsMax: number;
}

class ServiceEnd implements ChannelEnd {
  readonly incarnation: number;
  readonly outgoing: MemoryOutgoing;
  readonly incoming: MemoryIncoming;
  readonly #move: () => void;

  constructor({ incarnation, begin }: ChannelHello, options: ServiceEndsOptions, move: () => void) {
    this.incarnation = incarnation;
    this.outgoing = new MemoryOutgoing({ retention: "until-acknowledged", wordsMax: options.outgoingWordsMax });
    // A life is a process: its words have one origin.
    this.incoming = new MemoryIncoming({ wordsMax: options.incomingWordsMax, begin, origin: incarnation + 1 });
    this.#move = move;
  }

  get born(): number {
    return this.outgoing.born;
  }

  get stable(): number {
    return this.outgoing.stable;
  }

  get origin(): number {
    return this.incoming.origin;
  }

  append(words: Int32Array, from: number, to: number): number {
    return this.outgoing.append(words, from, to);
  }

  take(into: Int32Array): number {
    return this.incoming.take(into);
  }

  move(): void {
    this.#move();
  }
}

export class ServiceEnds implements ServiceUser {
  readonly #options: ServiceEndsOptions;
  readonly #move: (client: number) => void;
  readonly #ends = new Map<number, ServiceEnd>();

  /** `move`: the connection of a client, if there is one, is to be moved. */
  constructor(options: ServiceEndsOptions, move: (client: number) => void) {
    this.#options = options;
    this.#move = move;
  }

  /** The end of a client's newest life; undefined: it has not been heard of. */
  of(client: number): ServiceEnd | undefined {
    return this.#ends.get(client);
  }

  open(hello: ChannelHello): ServiceStreams | null {
    let end = this.#ends.get(hello.client);
    if (end === undefined || end.incarnation !== hello.incarnation) {
      end = new ServiceEnd(hello, this.#options, () => this.#move(hello.client));
      this.#ends.set(hello.client, end);
    }
    // It has been told to forget what was never said here.
    if (wordsBetween(hello.begin, end.incoming.arrived) < 0) return null;
    return end;
  }
}
