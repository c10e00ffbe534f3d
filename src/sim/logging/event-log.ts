/**
 * The event logger of a simulated world: the books that ship (core/service/event-logger.ts) in a process that can be lost. Streams
 * speak to it over connections, which may break without it; the dispatcher asks it over a channel of its own.
 *
 * One that crashes takes along all that it has: it writes nothing down. Its successor is told by the nodes what they keep (ADR 9);
 * questions that were not answered are asked of the successor again.
 */

import { EventLogger } from "../../core/ft/logging/event-logger.ts";
import type { EventLogPort } from "../../core/ft/logging/logging-job.ts";
import type { Random } from "../random.ts";

interface EventLogOptions {
  readonly random: Random;
  readonly delayNsMax: number;
  /** Until another one has the place of one that was lost, at most. */
  readonly restartNs: number;
}

interface EventLogPorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  /** It can be reached, perhaps another one: streams are to connect. */
  ready(): void;
  /** Answers to the job's part of the protocol. */
  fenced(set: number, incarnation: number, words: Int32Array | null): void;
  endIs(set: number, end: number | null): void;
}

/** A question, and what is done with its answer. */
type Question = (logger: EventLogger) => () => void;

export class EventLog implements EventLogPort {
  readonly #options: EventLogOptions;
  readonly #ports: EventLogPorts;
  #logger = new EventLogger();
  #isUp = true;
  #areConnected = true;
  /** Of the streams' connections, and of the process: what was said on an old one, or to an old one, is lost. */
  #connection = 0;
  #process = 0;
  /** Not answered, oldest first. */
  readonly #questions: Question[] = [];
  #lastNs = 0;

  constructor(options: EventLogOptions, ports: EventLogPorts) {
    this.#options = options;
    this.#ports = ports;
  }

  // What nodes say to it

  /** What is said to it or by it is lost with the connection. */
  ofConnection(act: () => void): () => void {
    const connection = this.#connection;
    const wasConnected = this.#areConnected;
    return () => {
      if (wasConnected && connection === this.#connection) act();
    };
  }

  /** The books of the present one, for what has arrived. */
  get at(): Pick<EventLogger, "open" | "owes" | "append"> {
    return this.#logger;
  }

  // What the dispatcher asks

  fence(set: number, incarnation: number, from: number): void {
    this.#ask((logger) => {
      const words = logger.fence(set, incarnation, from);
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
    const process = this.#process;
    this.#later(() => {
      if (process === this.#process) this.#logger.trim(set, below);
    });
  }

  #ask(question: Question): void {
    this.#questions.push(question);
    if (this.#isUp) this.#put(question);
  }

  #put(question: Question): void {
    const process = this.#process;
    this.#later(() => {
      if (process !== this.#process) return;
      const answer = question(this.#logger);
      this.#later(() => {
        if (process !== this.#process) return;
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

  // What happens to it

  /** Nodes cannot reach it for a while. It has what it has. */
  cut(): void {
    if (!this.#isUp) return;
    this.#disconnect();
    this.#whenRestarted(() => this.#connect());
  }

  crash(): void {
    this.#disconnect();
    this.#isUp = false;
    this.#process++;
    this.#logger = new EventLogger(true);
    this.#whenRestarted(() => {
      this.#isUp = true;
      this.#connect();
      for (const question of this.#questions) this.#put(question);
    });
  }

  #disconnect(): void {
    this.#areConnected = false;
    this.#connection++;
  }

  #connect(): void {
    this.#areConnected = true;
    this.#ports.ready();
  }

  #whenRestarted(act: () => void): void {
    const connection = this.#connection;
    const { random, restartNs } = this.#options;
    this.#ports.plan(this.#ports.nowNs() + random.below(restartNs + 1), () => {
      if (connection === this.#connection) act();
    });
  }
}
