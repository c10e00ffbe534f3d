/**
 * The event logger as a service of a channel: its clients are correlated sets, and it says nothing but acknowledgements. Words are
 * acknowledged when they are in its store.
 */
import { type ChannelHello, refused } from "../../service-channel/channel.ts";
import { silent } from "../../service-channel/memory-streams.ts";
import type { ServiceStreams, ServiceUser } from "../../service-channel/service-clients.ts";
import type { EventLogger } from "./event-logger.ts";

export class LoggerStreams implements ServiceUser {
  readonly #logger: EventLogger;
  readonly #told: (set: number, incarnation: number, end: number) => void;

  /** `told`: the stream of a life is here up to `end`; for simulated worlds, which watch. */
  constructor(logger: EventLogger, told: (set: number, incarnation: number, end: number) => void = () => {}) {
    this.#logger = logger;
    this.#told = told;
  }

  open({ client: set, incarnation, begin }: ChannelHello): ServiceStreams | null {
    const logger = this.#logger;
    const told = this.#told;
    const wanted = logger.open(set, incarnation, begin);
    if (wanted === null) return null;
    // A connection that broke may have left words that are not stored yet, and the first acknowledgement says all of them.
    logger.settle();
    let arrived = wanted;
    let settled = wanted;
    return {
      outgoing: silent,
      incoming: {
        get arrived() {
          return arrived;
        },
        get settled() {
          return settled;
        },
        receive(words, at, count) {
          const end = logger.append(set, incarnation, arrived, words.subarray(at, at + count));
          // An old life is not answered.
          if (end === null) return refused;
          arrived = end;
          return count;
        },
        settle() {
          if (settled === arrived) return;
          logger.settle();
          settled = arrived;
          told(set, incarnation, settled);
        },
        origin: incarnation + 1,
        beginAnew: () => true,
      },
      opened(stable) {
        if (logger.owes(set, incarnation, stable)) told(set, incarnation, settled);
      },
    };
  }
}
