/**
 * The event logger of a simulated world: the books that ship (core/ft/logging/event-logger.ts) in a process that can be lost. Sets
 * speak to it over channels, which may break without it; the dispatcher asks it over a connection of its own.
 *
 * An event logger that crashes loses all that is not in its store, and may crash in the middle of a write. Its successor goes on with the
 * store (ADR 19); where that is damaged, the nodes tell the successor what they keep (ADR 9). Questions that were not answered are
 * asked of the successor again.
 *
 * When the dispatcher crashes, its connection breaks: its answers are lost, and the questions on their way are lost or arrive
 * late, also behind those of the dispatcher's successor.
 */

import { EventLogger } from "../../core/ft/logging/event-logger.ts";
import { LoggerStreams } from "../../core/ft/logging/logger-streams.ts";
import type { EventLogPort } from "../../core/ft/logging/logging-job.ts";
import { StoredStreams } from "../../core/ft/logging/stored-streams.ts";
import type { ServiceStore } from "../../core/service-channel/service-store.ts";
import type { Random } from "../random.ts";
import { SimService, type SimServiceOptions } from "../service-channel/sim-service.ts";
import { SimStore } from "../service-channel/sim-store.ts";

/** What happens to the store when the event logger crashes, in so many of all cases. */
export interface StoreFaults {
  readonly random: Random;
  /** The crash comes in the middle of the next write, if there is one soon. */
  readonly torn: number;
  readonly damaged: number;
}

interface EventLogOptions extends SimServiceOptions {
  readonly storeFaults: StoreFaults;
}

interface EventLogPorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  /** It can be reached, perhaps another one: streams are to connect. */
  ready(): void;
  /** It is lost, and its successor has what the store says. */
  crashed(): void;
  /** The present event logger has the stream of that life of a set up to `end`, and knows how far its predecessor had come. */
  told(set: number, incarnation: number, end: number): void;
  /** The event logger refuses the set's next life at this moment: it lacks choices that were acknowledged once. */
  refused(set: number): void;
  /** Answers to the job's part of the protocol. */
  fenced(set: number, incarnation: number, words: Int32Array | null): void;
  endIs(set: number, end: number | null): void;
}

interface Caller {
  isLost: boolean;
  /** Do questions that were on their way arrive, when the dispatcher is lost? */
  sendsArrive: boolean;
}

/** A question, and what is done with its answer. */
type Question = (logger: EventLogger) => () => void;

/** Small, so that stores are written anew in short worlds. */
const slackBytes = 100;

export class EventLog implements EventLogPort {
  readonly service: SimService;
  /** How often a crash tore a write, the store was refused, or was written anew while an event logger worked. */
  readonly stores = { torn: 0, refused: 0, renewed: 0 };
  readonly #options: EventLogOptions;
  readonly #ports: EventLogPorts;
  readonly #store: SimStore;
  #logger!: EventLogger;
  /** Not answered, oldest first. */
  #questions: Question[] = [];
  #lastNs = 0;
  /** The dispatcher's end of the connection, which is lost with the dispatcher. */
  #caller: Caller = { isLost: false, sendsArrive: true };

  constructor(options: EventLogOptions, ports: EventLogPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#store = new SimStore(options.storeFaults.random);
    this.service = new SimService(options, {
      nowNs: () => ports.nowNs(),
      plan: (timeNs, act) => ports.plan(timeNs, act),
      ready: () => ports.ready(),
      begin: (isSuccessor) => this.#begin(isSuccessor),
    });
  }

  #begin(isSuccessor: boolean): LoggerStreams {
    let hasBegun = false;
    const isLost = (): boolean => hasBegun && logger !== this.#logger;
    // A process that is lost writes no more, though what it was doing goes on here until it returns.
    const store: ServiceStore = {
      append: (words) => {
        if (!isLost()) this.#store.append(words);
      },
      replace: (parts) => {
        if (isLost()) return;
        if (hasBegun) this.stores.renewed++;
        this.#store.replace(parts);
      },
    };
    const streams = isSuccessor ? StoredStreams.restored([this.#store.read()], { store, slackBytes }) : "";
    if (isSuccessor && typeof streams === "string") this.stores.refused++;
    const logger = new EventLogger(
      typeof streams === "string" ? new StoredStreams(isSuccessor, { store, slackBytes }) : streams,
    );
    this.#logger = logger;
    hasBegun = true;
    return new LoggerStreams(logger, (set, incarnation, end) => {
      if (!isLost()) this.#ports.told(set, incarnation, end);
    });
  }

  // What the dispatcher asks

  fence(set: number, incarnation: number, from: number): void {
    const caller = this.#caller;
    this.#ask((logger) => {
      const words = logger.fence(set, incarnation, from);
      if (words === null && !caller.isLost) this.#ports.refused(set);
      return () => this.#ports.fenced(set, incarnation, words);
    });
  }

  askEnd(set: number): void {
    this.#ask((logger) => {
      const end = logger.reached(set);
      return () => this.#ports.endIs(set, end);
    });
  }

  trim(set: number, below: number): void {
    const { origin } = this.service;
    this.#later(() => {
      if (origin === this.service.origin) this.#logger.trim(set, below);
    });
  }

  #ask(question: Question): void {
    this.#questions.push(question);
    if (this.service.isUp) this.#put(question);
  }

  #put(question: Question): void {
    const { origin } = this.service;
    const caller = this.#caller;
    this.#later(() => {
      if (origin !== this.service.origin || !caller.sendsArrive) return;
      const answer = question(this.#logger);
      if (caller.isLost) return;
      this.#later(() => {
        if (origin !== this.service.origin || caller.isLost) return;
        this.#questions.splice(this.#questions.indexOf(question), 1);
        answer();
      });
    });
  }

  /** In order, both ways. */
  #later(act: () => void): void {
    const { nowNs, plan } = this.#ports;
    this.#lastNs = Math.max(this.#lastNs, nowNs() + this.#options.random.below(this.#options.delayNsMax));
    plan(this.#lastNs, act);
  }

  // Losses

  /** The dispatcher is lost. Its successor has a connection of its own, on which nothing is on its way. */
  dispatcherCrashed(): void {
    this.#caller.isLost = true;
    this.#caller.sendsArrive = this.#options.random.chance(0.5);
    this.#caller = { isLost: false, sendsArrive: true };
    this.#questions = [];
    this.#lastNs = 0;
  }

  /** Nodes cannot reach the event logger for a while. It loses nothing. */
  cut(): void {
    this.service.cut();
  }

  crash(): void {
    const { random, torn } = this.#options.storeFaults;
    if (!random.chance(torn)) {
      this.#crashNow();
      return;
    }
    const isLeft = this.#store.tearNext(() => {
      this.stores.torn++;
      this.#crashNow();
    });
    this.#ports.plan(this.#ports.nowNs() + this.#options.delayNsMax, () => {
      if (isLeft()) this.#crashNow();
    });
  }

  #crashNow(): void {
    const { random, damaged } = this.#options.storeFaults;
    if (random.chance(damaged)) this.#store.damage();
    this.#ports.crashed();
    this.service.crash(() => {
      for (const question of this.#questions) this.#put(question);
    });
  }
}
