/**
 * The process of a service in a simulated world, as clients see it over channels: it can be lost to them for a while with what it
 * has, or crash, and then another takes its place that has nothing.
 */
import type { ChannelHello, Wire } from "../../core/service-channel/channel.ts";
import { ServiceClients, type ServiceUser } from "../../core/service-channel/service-clients.ts";
import type { Random } from "../random.ts";
import { SimConnection } from "./sim-connection.ts";

export interface SimServiceOptions {
  readonly random: Random;
  readonly delayNsMax: number;
  /** Until it can be reached again, or another one has its place, at most. */
  readonly restartNs: number;
}

interface SimServicePorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  /** A process of the service begins; `isSuccessor`: there was one before. `move`: a client's connection is to be moved. */
  begin(isSuccessor: boolean, move: (client: number) => void): ServiceUser;
  /** It can be reached again, perhaps another one: clients are to call. */
  ready(): void;
}

/** Of a client's host. */
export interface SimCaller {
  readonly sendsArrive: boolean;
  move(): void;
}

interface Process {
  readonly origin: number;
  readonly clients: ServiceClients<Line>;
}

/** One connection as the service has it. */
interface Line {
  readonly connection: SimConnection;
  move(): void;
}

const connectionBytesMax = 1 << 16;

export class SimService {
  readonly #options: SimServiceOptions;
  readonly #ports: SimServicePorts;
  #process: Process;
  #isUp = true;
  #isReachable = true;
  /** How often all connections were lost, with everything on its way. */
  #outages = 0;
  readonly #lines = new Set<Line>();

  constructor(options: SimServiceOptions, ports: SimServicePorts) {
    this.#options = options;
    this.#ports = ports;
    this.#process = this.#begin(1);
  }

  #begin(origin: number): Process {
    const user = this.#ports.begin(origin > 1, (client) => this.#process.clients.hostOf(client)?.move());
    const clients: ServiceClients<Line> = new ServiceClients(user, origin, ({ connection }) => connection.cut());
    return { origin, clients };
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Which process of the service it is, from 1. */
  get origin(): number {
    return this.#process.origin;
  }

  /** A check whether words said now still arrive: not after the next outage. Null: no process of the service can be reached now. */
  reach(): (() => boolean) | null {
    const outages = this.#outages;
    return this.#isReachable ? () => outages === this.#outages : null;
  }

  /** A hello has arrived. Null: that life is refused. */
  called(hello: ChannelHello, caller: SimCaller): { readonly wire: Wire; readonly wanted: number } | null {
    const { clients } = this.#process;
    const admission = clients.admit(hello);
    if (admission === null) return null;
    const { random, delayNsMax } = this.#options;
    const { nowNs, plan } = this.#ports;
    const connection: SimConnection = new SimConnection(
      { random, delayNsMax, bytesMax: connectionBytesMax },
      { nowNs, plan, ends: [caller, { sendsArrive: true, move: () => line.move() }] },
    );
    const wire = connection.wireOf(1);
    const line: Line = {
      connection,
      move: () => {
        if (end?.move(wire) !== false) return;
        this.#lines.delete(line);
        clients.disconnected(hello.client, line);
        connection.cut();
      },
    };
    this.#lines.add(line);
    const end = clients.connect(admission, line);
    return { wire: connection.wireOf(0), wanted: admission.wanted };
  }

  // What happens to it

  /** Every connection breaks; clients call again. */
  cutConnections(): void {
    for (const { connection } of this.#lines) connection.cut();
  }

  /** No client can reach it for a while. It keeps its contents. */
  cut(): void {
    if (!this.#isUp) return;
    this.#disconnect();
    this.#whenRestarted(() => this.#connect());
  }

  /** It is lost with all that it has. `restarted`: another has its place. */
  crash(restarted: () => void): void {
    this.#disconnect();
    this.#isUp = false;
    this.#process = this.#begin(this.#process.origin + 1);
    this.#whenRestarted(() => {
      this.#isUp = true;
      this.#connect();
      restarted();
    });
  }

  #disconnect(): void {
    this.#isReachable = false;
    this.#outages++;
    for (const { connection } of this.#lines) connection.cut();
    this.#lines.clear();
  }

  #connect(): void {
    this.#isReachable = true;
    this.#ports.ready();
  }

  #whenRestarted(act: () => void): void {
    const outages = this.#outages;
    const { random, restartNs } = this.#options;
    this.#ports.plan(this.#ports.nowNs() + random.below(restartNs + 1), () => {
      if (outages === this.#outages) act();
    });
  }
}
