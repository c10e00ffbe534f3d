/**
 * The event logger of a simulated world: the books that ship (core/ft/logging/event-logger.ts) in a process that can be lost. Sets
 * speak to it over channels, which may break without it; the dispatcher asks it over a connection of its own.
 *
 * An event logger that crashes loses all that it has: it writes nothing down. The nodes tell its successor what they keep (ADR 9);
 * questions that were not answered are asked of the successor again.
 *
 * When the dispatcher crashes, its connection breaks: its answers are lost, and the questions on their way are lost or arrive
 * late, also behind those of the dispatcher's successor.
 */

import { EventLogger } from "../../core/ft/logging/event-logger.ts";
import { LoggerStreams } from "../../core/ft/logging/logger-streams.ts";
import type { EventLogPort } from "../../core/ft/logging/logging-job.ts";
import { SimService, type SimServiceOptions } from "../service-channel/sim-service.ts";

interface EventLogPorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  /** It can be reached, perhaps another one: streams are to connect. */
  ready(): void;
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

export class EventLog implements EventLogPort {
  readonly service: SimService;
  readonly #options: SimServiceOptions;
  readonly #ports: EventLogPorts;
  #logger = new EventLogger();
  /** Not answered, oldest first. */
  #questions: Question[] = [];
  #lastNs = 0;
  /** The dispatcher's end of the connection, which is lost with the dispatcher. */
  #caller: Caller = { isLost: false, sendsArrive: true };

  constructor(options: SimServiceOptions, ports: EventLogPorts) {
    this.#options = options;
    this.#ports = ports;
    this.service = new SimService(options, {
      ...{ nowNs: () => ports.nowNs(), plan: (timeNs, act) => ports.plan(timeNs, act), ready: () => ports.ready() },
      begin: (isSuccessor) => {
        this.#logger = new EventLogger(isSuccessor);
        return new LoggerStreams(this.#logger, (set, incarnation, end) => ports.told(set, incarnation, end));
      },
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

  /** Nodes cannot reach it for a while. It has what it has. */
  cut(): void {
    this.service.cut();
  }

  crash(): void {
    this.service.crash(() => {
      for (const question of this.#questions) this.#put(question);
    });
  }
}
