/**
 * The dispatcher's side of new links: one listening socket of the job, invitations to it, and the handshake with every caller that
 * calls (transport/handshake). Each invitation is good for one connection; nodes that need files of the job call again for each.
 */
import type { Socket } from "node:net";
import { CallVerdict, type JobSecret, ServiceCode } from "../transport/handshake/handshake.ts";
import { type Guest, Reception } from "../transport/handshake/reception.ts";
import type { Invitation } from "./invitation.ts";

interface NodeDoorOptions {
  readonly job: JobSecret;
  /** Of this machine; nodes must be able to reach it. */
  readonly host: string;
  /** The socket cannot listen: no node can be invited. */
  unable(why: string): void;
  /** A process of the job has called for files. */
  wantsFiles(guest: Guest): void;
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
    this.#reception = new Reception({
      job: options.job,
      service: [ServiceCode.CONTROL, ServiceCode.FILES],
      place: { address: options.host, port: 0 },
      received: (guest) => {
        if (guest.hello.service === ServiceCode.FILES) options.wantsFiles(guest);
        else this.#letIn(guest);
      },
      dropped: () => {
        this.strangers++;
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
    return port === null ? null : { host, port, jobId: job.id, secret: job.secret, number };
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
