/**
 * The process of a service: its door, the connections of its clients (`ServiceHost`), and the loop in which it serves them and sleeps.
 * The dispatcher has forked the process, and speaks to it over that channel.
 */
import type { ServiceUser } from "../../core/service-channel/service-clients.ts";
import type { JobSecret, ServiceCode } from "../transport/handshake/handshake.ts";
import { type Listening, Reception } from "../transport/handshake/reception.ts";
import { ServiceHost } from "./service-host.ts";

/** Longest sleep: the event loop has a turn at least that often. */
const sleepMsMax = 100;
/** Where it cannot sleep over sockets: looks that find nothing before it naps. */
const idleTurnsMax = 50;
/** After a new connection the event loop has turns until the handshake must be over. */
const knockMs = 50;

interface ServiceProcessOptions {
  readonly job: JobSecret;
  readonly service: ServiceCode;
  /** The address of this machine at which clients call. */
  readonly host: string;
  /** See `ServiceHost`. */
  newUser(move: (client: number) => void): ServiceUser;
  /** Clients can call at that port, or never will. Called once. */
  listens(outcome: Listening): void;
  /** Has the event loop something to say that the system has not taken yet? */
  readonly isSaying?: () => boolean;
  /** Words of clients may have come. Not needed by a service that takes them as they come. */
  readonly served?: () => void;
  /** See `ServiceHost`. */
  readonly looksBeforeSleep?: number;
}

export class ServiceProcess {
  readonly #options: ServiceProcessOptions;
  readonly #host: ServiceHost;
  readonly #door: Reception;
  #knockedMs = Number.NEGATIVE_INFINITY;
  #idleTurns = 0;

  constructor(options: ServiceProcessOptions) {
    const { job, service, host } = options;
    this.#options = options;
    const { served, looksBeforeSleep } = options;
    this.#host = new ServiceHost((move) => options.newUser(move), {
      ...(served === undefined ? {} : { served }),
      ...(looksBeforeSleep === undefined ? {} : { looksBeforeSleep }),
    });
    this.#door = new Reception({
      job,
      service,
      place: { address: host, port: 0 },
      namesPort: true,
      received: (guest) => this.#host.received(guest),
      dropped() {},
    });
    void this.#open();
  }

  async #open(): Promise<void> {
    const listening = await this.#door.listen();
    this.#options.listens(listening);
    if (!listening.ok) return;
    this.#host.watch(this.#door.descriptor, () => {
      this.#knockedMs = performance.now();
    });
    this.#host.watch((process.channel as unknown as { readonly fd: number }).fd);
    this.#turn();
  }

  /** The event loop's turn is over: serves, sleeps, and gives it the next. */
  #turn(): void {
    const isKnocked = this.#door.isMeeting || performance.now() - this.#knockedMs < knockMs;
    const isSaying = this.#options.isSaying?.() === true;
    const isBusy = this.#host.serve(isKnocked || isSaying ? 1 : sleepMsMax);
    // Where nobody says who knocks.
    if (isBusy && !this.#host.canSleep) this.#knockedMs = performance.now();
    this.#idleTurns = isBusy ? 0 : this.#idleTurns + 1;
    if (this.#host.canSleep || this.#idleTurns < idleTurnsMax) setImmediate(() => this.#turn());
    else setTimeout(() => this.#turn(), 1);
  }
}
