/**
 * What a service knows of its clients: which life of each is heard, and over which connection. It decides which callers are
 * admitted; the host has the sockets.
 *
 * A client has one connection, the one that was admitted last: a client that calls again has lost the one before. A newer life takes the
 * place of an older one, an older one is refused from then on. The service itself may refuse more.
 */
import { type ChannelHello, type Incoming, type Outgoing, wordsBetween } from "./channel.ts";
import { Connection, connectionWords, type Opening } from "./connection.ts";

/** What a service has for one life of a client. */
export interface ServiceStreams {
  readonly incoming: Incoming;
  readonly outgoing: Outgoing & {
    /** The client has heard nothing from this process yet, see `MemoryOutgoing`. A service that says nothing has no need of it. */
    resumeElsewhere?(position: number): void;
  };
  /** The position up to which its stream has been acknowledged, perhaps by another process of the service. */
  opened?(stable: number): void;
}

export interface ServiceUser {
  /** A life of a client wants to be heard, again or for the first time; `incoming.arrived` says from where on. Null: it is not. */
  open(hello: ChannelHello): ServiceStreams | null;
}

/** A client that is admitted: the host makes the connection, unless another life was admitted meanwhile. */
interface Admission {
  readonly client: number;
  readonly incarnation: number;
  /** The position from which on its stream is wanted. */
  readonly wanted: number;
  readonly streams: ServiceStreams;
}

interface Known<Host> {
  incarnation: number;
  admission: Admission | null;
  host: Host | null;
}

/** `Host`: whatever the host has for a connection. */
export class ServiceClients<Host> {
  readonly #user: ServiceUser;
  readonly #origin: number;
  readonly #drop: (host: Host) => void;
  readonly #clients = new Map<number, Known<Host>>();

  /** `origin`: the number of this process of the service, not 0 and not that of another; `drop`: that connection is not heard any more. */
  constructor(user: ServiceUser, origin: number, drop: (host: Host) => void) {
    this.#user = user;
    this.#origin = origin;
    this.#drop = drop;
  }

  /** Null: an old life speaks. */
  admit(hello: ChannelHello): Admission | null {
    const { client, incarnation } = hello;
    const known = this.#clients.get(client);
    if (known !== undefined && incarnation < known.incarnation) return null;
    const streams = this.#user.open(hello);
    if (streams === null) return null;
    if (known?.host != null) this.#drop(known.host);
    const admission = { client, incarnation, wanted: streams.incoming.arrived, streams };
    this.#clients.set(client, { incarnation, admission, host: null });
    return admission;
  }

  /** Null: another life was admitted meanwhile. */
  connect(admission: Admission, host: Host): Connection | null {
    const known = this.#clients.get(admission.client);
    if (known?.admission !== admission) return null;
    known.host = host;
    const { streams } = admission;
    const connection = new Connection({
      words: new Int32Array(connectionWords),
      at: 0,
      outgoing: streams.outgoing,
      incoming: streams.incoming,
      listener: { origin: this.#origin, opened: (opening) => this.#opened(streams, opening) },
    });
    connection.begin();
    return connection;
  }

  #opened({ outgoing, opened }: ServiceStreams, { stable, arrived, origin }: Opening): boolean {
    if (origin !== this.#origin) outgoing.resumeElsewhere?.(arrived);
    else if (wordsBetween(outgoing.begin, arrived) < 0 || wordsBetween(arrived, outgoing.born) < 0) return false;
    else outgoing.resume(arrived);
    opened?.(stable);
    return true;
  }

  /** That connection is no more. */
  disconnected(client: number, host: Host): void {
    const known = this.#clients.get(client);
    if (known?.host === host) known.host = null;
  }

  /** What is between the service and that client now; null: nothing. */
  hostOf(client: number): Host | null {
    return this.#clients.get(client)?.host ?? null;
  }
}
