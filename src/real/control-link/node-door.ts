/**
 * The dispatcher's side of new links: one listening socket of the job, invitations to it, and the handshake with every caller that
 * calls (transport/handshake). Each invitation is good for one connection; nodes that need files of the job call again for each. Where
 * nodes may join, processes that nobody has invited and that know the secret may offer themselves.
 */
import type { Socket } from "node:net";
import { build } from "../messages/node-messages.ts";
import { CallVerdict, type JobSecret, ServiceCode, unprovenReason } from "../transport/handshake/handshake.ts";
import { type Guest, Reception } from "../transport/handshake/reception.ts";
import { buildNumber } from "./build-number.ts";
import type { Invitation } from "./invitation.ts";

interface NodeDoorOptions {
  readonly job: JobSecret;
  /** Of this machine; nodes must be able to reach it. */
  readonly host: string;
  /** The socket cannot listen: no node can be invited. */
  unable(why: string): void;
  /** A process of the job has called for files. */
  wantsFiles(guest: Guest): void;
  /** Null: nobody may join. */
  readonly joining: JoiningPorts | null;
}

export interface JoiningPorts {
  /** Where the socket listens; 0: at any port that is free. */
  readonly port: number;
  /** A process of the job calls, by the number that it had (0: none). Its new number; null: it is refused. */
  called(had: number, place: VolunteerPlace): number | null;
  /** That process is welcome; `socket` is its link. */
  came(number: number, socket: Socket, place: VolunteerPlace): void;
  /** A process of another build was sent away. */
  unlike(place: VolunteerPlace): void;
  /** A caller does not know the secret. */
  unproven(address: string): void;
}

/** Where a process is that offers itself. */
export interface VolunteerPlace {
  readonly address: string;
  /** On its machine. */
  readonly pid: number;
}

export class NodeDoor {
  readonly #options: NodeDoorOptions;
  readonly #reception: Reception;
  /** Null: it cannot listen. */
  readonly #port: Promise<number | null>;
  readonly #invited = new Map<number, (socket: Socket) => void>();
  #invitations = 0;
  /** Connections that were closed because their caller was not invited. */
  strangers = 0;

  constructor(options: NodeDoorOptions) {
    this.#options = options;
    const { joining } = options;
    this.#reception = new Reception({
      job: options.job,
      service: [ServiceCode.CONTROL, ServiceCode.FILES, ...(joining === null ? [] : [ServiceCode.JOIN])],
      place: { address: options.host, port: joining?.port ?? 0 },
      received: (guest) => {
        if (guest.hello.service === ServiceCode.FILES) options.wantsFiles(guest);
        else if (guest.hello.service === ServiceCode.CONTROL) this.#letIn(guest);
        else this.#letJoin(guest);
      },
      dropped: (reason, from) => {
        this.strangers++;
        if (reason === unprovenReason) joining?.unproven(from);
      },
    });
    this.#port = this.#listen();
  }

  #letIn({ hello, socket, answer }: Guest): void {
    const came = this.#invited.get(hello.from);
    this.#invited.delete(hello.from);
    const verdict = came === undefined ? CallVerdict.ABSENT : CallVerdict.WELCOME;
    const words = answer({ verdict, incarnation: 0, generation: hello.generation });
    if (came === undefined) {
      this.strangers++;
      socket.end(words, () => socket.destroy());
      return;
    }
    socket.write(words);
    came(socket);
  }

  #letJoin({ hello, socket, answer }: Guest): void {
    const { joining } = this.#options;
    if (joining === null) return;
    const place: VolunteerPlace = { address: socket.remoteAddress ?? "", pid: hello.to };
    const isLike = hello.wanted === buildNumber(build);
    const number = isLike ? joining.called(hello.from, place) : null;
    const verdict = number !== null ? CallVerdict.WELCOME : isLike ? CallVerdict.ABSENT : CallVerdict.UNLIKE;
    const words = answer({ verdict, incarnation: number ?? 0, generation: hello.generation });
    if (number === null) {
      if (!isLike) joining.unlike(place);
      socket.end(words, () => socket.destroy());
      return;
    }
    socket.write(words);
    joining.came(number, socket, place);
  }

  /** Null: it cannot listen. */
  get port(): Promise<number | null> {
    return this.#port;
  }

  async #listen(): Promise<number | null> {
    const listening = await this.#reception.listen();
    if (listening.ok) return listening.port;
    this.#options.unable(listening.reason);
    return null;
  }

  /** For one process; `came`: it has called, and has proven to be of the job. */
  invite(came: (socket: Socket) => void): Invited {
    const number = ++this.#invitations;
    this.#invited.set(number, came);
    return {
      number,
      invitation: this.#invitationOf(number),
      withdraw: () => void this.#invited.delete(number),
    };
  }

  async #invitationOf(number: number): Promise<Invitation | null> {
    const { host, job } = this.#options;
    const port = await this.#port;
    return port === null ? null : { host, port, jobId: job.id, secret: job.secret, number, had: 0 };
  }

  close(): void {
    this.#invited.clear();
    this.#reception.close();
  }
}

export interface Invited {
  readonly number: number;
  /** Null: no node can be invited. */
  readonly invitation: Promise<Invitation | null>;
  /** The invitation of that number is void. */
  withdraw(): void;
}
