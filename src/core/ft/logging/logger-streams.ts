/** The event logger as a service of a channel: its clients are correlated sets, and it says nothing but acknowledgements. */
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
    let arrived = wanted;
    return {
      outgoing: silent,
      incoming: {
        get arrived() {
          return arrived;
        },
        get settled() {
          return arrived;
        },
        receive(words, at, count) {
          const end = logger.append(set, incarnation, arrived, words.subarray(at, at + count));
          // An old life is not answered.
          if (end === null) return refused;
          arrived = end;
          told(set, incarnation, end);
          return count;
        },
        origin: incarnation + 1,
        beginAnew: () => true,
      },
      opened(stable) {
        logger.owes(set, incarnation, stable);
        told(set, incarnation, arrived);
      },
    };
  }
}
