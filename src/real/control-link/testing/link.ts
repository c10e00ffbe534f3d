/** For tests: a door and somebody invited, in one process. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { ByteQueue } from "../../framing/byte-queue.ts";
import { callDispatcher } from "../call-dispatcher.ts";
import { ControlLink, type ControlLinkOptions, type LinkEnd } from "../control-link.ts";
import type { Invitation } from "../invitation.ts";
import { type JoiningPorts, NodeDoor } from "../node-door.ts";

export const testJob = { id: "a test", secret: Uint8Array.from(randomBytes(32)) };

/** Closed when the test is over, whatever comes of it. */
export function openDoor(t: TestContext, joining: JoiningPorts | null = null): NodeDoor {
  const door = new NodeDoor({
    job: testJob,
    host: "127.0.0.1",
    unable: (why) => assert.fail(why),
    wantsFiles: () => assert.fail("nobody asks for files"),
    joining,
  });
  t.after(() => door.close());
  return door;
}

/** Both ends of a connection, after the handshake. */
export interface Connected {
  /** The dispatcher's. */
  readonly inner: { readonly socket: Socket; readonly queue: ByteQueue };
  /** The node's. */
  readonly outer: { readonly socket: Socket; readonly queue: ByteQueue };
  readonly invitation: Invitation;
}

export async function connected(t: TestContext, door = openDoor(t)): Promise<Connected> {
  let inner: Socket | undefined;
  const { invitation } = door.invite((socket) => {
    inner = socket;
    t.after(() => socket.destroy());
  });
  const given = await invitation;
  assert(given !== null);
  const called = await callDispatcher(given);
  assert(called.ok && inner !== undefined);
  t.after(() => called.socket.destroy());
  return { inner: { socket: inner, queue: new ByteQueue() }, outer: called, invitation: given };
}

interface Message {
  readonly kind: string;
}

/** An end that remembers what it has heard. */
export class TestEnd<Out extends Message, In extends Message> {
  readonly heard: In[] = [];
  readonly unsendable: string[] = [];
  readonly link: ControlLink<Out, In>;
  readonly closed: Promise<LinkEnd>;
  #told = (): void => {};

  constructor(options: Pick<ControlLinkOptions<Out, In>, "socket" | "queue" | "sends" | "hears">) {
    let close!: (end: LinkEnd) => void;
    this.closed = new Promise((resolve) => {
      close = resolve;
    });
    this.link = new ControlLink<Out, In>({
      ...options,
      heard() {},
      said: (message) => {
        this.heard.push(message);
        this.#told();
      },
      unsendable: (problem) => this.unsendable.push(problem),
      closed: (end) => close(end),
    });
  }

  /** Fulfilled when it has heard so many messages. */
  async has(messages: number): Promise<void> {
    while (this.heard.length < messages) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }
}
