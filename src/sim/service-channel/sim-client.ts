/**
 * One life of a client in a simulated world: its end is that of the core, its hellos and bytes travel for a while. What it had not sent
 * when it fell is lost, and so is what was on its way to it; what it had sent arrives or not, as the seed says.
 */
import type { Wire } from "../../core/service-channel/channel.ts";
import { MemoryClient, type MemoryClientOptions } from "../../core/service-channel/memory-client.ts";
import type { Random } from "../random.ts";
import type { SimCaller, SimService } from "./sim-service.ts";

interface SimClientOptions extends MemoryClientOptions {
  readonly random: Random;
  readonly delayNsMax: number;
}

export interface SimClientPorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  /** `stable` has changed. */
  settled(): void;
  /** Something has come. */
  moved?(): void;
}

export class SimClient implements SimCaller {
  readonly end: MemoryClient;
  readonly #service: SimService;
  readonly #options: SimClientOptions;
  readonly #ports: SimClientPorts;
  readonly #sendsSurvive: boolean;
  #isOver = false;
  #lastArrivalNs = 0;
  #calls = 0;

  constructor(service: SimService, options: SimClientOptions, ports: SimClientPorts) {
    this.#service = service;
    this.#options = options;
    this.#ports = ports;
    this.#sendsSurvive = options.random.chance(0.5);
    this.end = new MemoryClient(options, {
      broken: () => this.connect(),
      settled: () => ports.settled(),
    });
  }

  get sendsArrive(): boolean {
    return !this.#isOver || this.#sendsSurvive;
  }

  /** It has fallen. */
  fall(): void {
    this.#isOver = true;
  }

  move(): void {
    if (this.#isOver) return;
    this.end.move();
    this.#ports.moved?.();
  }

  /** After a while, unless it has fallen by then. */
  later(delayNsMax: number, act: () => void): void {
    this.#ports.plan(this.#ports.nowNs() + this.#options.random.below(delayNsMax), () => {
      if (!this.#isOver) act();
    });
  }

  /** Says hello if the service can be reached; otherwise the client is told when it can. */
  connect(): void {
    this.end.disconnected();
    const isSame = this.#service.reach();
    if (this.#isOver || this.end.isFenced || isSame === null) return;
    const call = ++this.#calls;
    const { hello } = this.end;
    this.#travel(() => {
      if (!isSame()) return;
      const answer = this.#service.called(hello, this);
      this.later(this.#options.delayNsMax, () => {
        if (isSame() && call === this.#calls) this.#answered(answer);
      });
    });
  }

  #answered(answer: { readonly wire: Wire; readonly wanted: number } | null): void {
    if (answer === null) this.end.refused();
    // Trimmed meanwhile: said again.
    else if (!this.end.connected(answer.wire, answer.wanted)) this.connect();
    else this.end.move();
  }

  /** It may get there even when the client has fallen, but nothing overtakes anything. */
  #travel(act: () => void): void {
    const { random, delayNsMax } = this.#options;
    this.#lastArrivalNs = Math.max(this.#lastArrivalNs, this.#ports.nowNs() + random.below(delayNsMax));
    this.#ports.plan(this.#lastArrivalNs, () => {
      if (this.sendsArrive) act();
    });
  }
}
