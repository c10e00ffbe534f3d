/**
 * One node, seen from the dispatcher: its control link, and what its starter has of the process. It is gone when its process is, or
 * when its link is: a node that cannot be talked to is dead for the job, and is killed where that can be done.
 */
import type { Socket } from "node:net";
import type { NodeLoss } from "../../../core/service/outcome.ts";
import { ControlLink, type LinkEnd } from "../../control-link/control-link.ts";
import {
  fromNodeBounds,
  fromNodeShapes,
  fromVolunteer,
  type NodePlace,
  toNodeBounds,
} from "../../control-link/message-shapes.ts";
import type { Invited, NodeDoor } from "../../control-link/node-door.ts";
import { ByteQueue } from "../../framing/byte-queue.ts";
import type { Stream } from "../../messages/lines.ts";
import type { FromNode, Setup, ToNode } from "../../messages/node-messages.ts";
import type { NodeSignal, NodeStarter, StartedNode } from "./node-starter.ts";

export interface NodeProcessEvents {
  /** Something has come from it: the whole of a message, or a part. */
  heard(): void;
  said(message: FromNode): void;
  /** Bytes that came past the ranks' own paths (`fs.writeSync(1, …)`, native code). Call `done` for more. */
  printed(stream: Stream, bytes: Buffer, done: () => void): void;
  /** The process is gone and everything it said has been read. Called once. */
  ended(loss: NodeLoss): void;
}

/** Programs that a rank started may hold the node's streams open when the node is long gone, and so may the network its link. */
const openAfterExitMsMax = 200;
/** The system closes a dying process's link first; one that lives on for so long without it is killed. */
const aliveAfterLinkMsMax = 1000;

type NodeLink = ControlLink<ToNode, FromNode>;

export class NodeProcess {
  readonly #invited: Invited;
  /** Null: its link is all that there is. */
  readonly #started: StartedNode | null;
  /** Null: it has not called yet. */
  #link: NodeLink | null = null;
  /** Sent to the node when it has called. */
  #unsent: ToNode[] = [];
  readonly #idles: () => void;
  /** Null: it has not begun. */
  #events: NodeProcessEvents | null = null;
  #place: Omit<NodePlace, "recovers"> | null = null;
  /** It was killed because of that, if it was. */
  #killedFor: NodeLoss | null = null;
  /** It has said that it goes, and was let go. */
  #hasLeft = false;
  #isOver = false;
  #closed!: () => void;
  readonly #linkIsClosed = new Promise<void>((resolve) => {
    this.#closed = resolve;
  });
  #isGone!: () => void;
  /** Fulfilled after `ended`. */
  readonly gone = new Promise<void>((resolve) => {
    this.#isGone = resolve;
  });

  /** `idles`: it has given a sign of life, and has no place. */
  constructor(door: Pick<NodeDoor, "invite">, starter: NodeStarter, idles: () => void = () => {}) {
    this.#idles = idles;
    this.#invited = door.invite((socket) => this.#called(socket));
    this.#started = starter.start(this.#invited.number, this.#invited.invitation);
    this.#forward("stdout");
    this.#forward("stderr");
    if (this.#started !== null) void this.#watchExit(this.#started);
  }

  /** It becomes a node, with these processes of the job. */
  begin(setup: Setup, here: readonly number[], events: NodeProcessEvents): void {
    this.#events = events;
    this.#place = { processes: setup.placement.length, here, protocol: setup.protocol };
    this.#link?.expect(fromNodeShapes(this.#place));
    this.send(setup);
  }

  /** One more process of the job has its place there. */
  adopts(process: number): void {
    const place = this.#place!;
    this.#place = { ...place, here: [...place.here.filter((each) => each !== process), process] };
    this.#link?.expect(fromNodeShapes(this.#place));
    this.send({ kind: "adopt-rank", rank: process });
  }

  get isAlive(): boolean {
    return !this.#isOver && (this.#started?.isAlive ?? (this.#link === null || this.#link.isOpen));
  }

  /** It has come by itself: its link is all that there is. */
  get isVolunteer(): boolean {
    return this.#started === null;
  }

  get pid(): number | undefined {
    return this.#started?.pid;
  }

  /** What the operating system has seen it do, see `DispatcherPorts.work`. */
  work(): number {
    return this.#started?.work() ?? 0;
  }

  send(message: ToNode): void {
    // A node that is gone shows as its end; what was meant for it is of no use then.
    if (this.#link !== null) this.#link.send(message);
    else if (!this.#isOver) this.#unsent.push(message);
  }

  /** False: it is gone. */
  kill(): boolean {
    if (this.#started !== null) return this.#started.signal("SIGKILL");
    if (this.#isOver) return false;
    // It ends by itself without its link, or will never have one.
    if (this.#link === null) this.#end({ kind: "cut", why: "it has not called" });
    else this.#link.cut("it was given up");
    return true;
  }

  /** It may go, as it has asked for: it stops its ranks and hands over what they have printed. */
  letGo(): void {
    this.#hasLeft = true;
    this.send({ kind: "end" });
  }

  /** It has said what cannot be: it is gone for the job, and killed. */
  cut(why: string): void {
    this.#link?.cut(why);
  }

  /** False: the process is gone, or is on another machine, where no signal reaches it. */
  signal(signal: NodeSignal): boolean {
    return this.#started?.signal(signal) ?? false;
  }

  #called(socket: Socket): void {
    const link: NodeLink = new ControlLink<ToNode, FromNode>({
      socket,
      queue: new ByteQueue(),
      sends: toNodeBounds,
      hears: fromNodeBounds,
      heard: () => (this.#events === null ? this.#idles() : this.#events.heard()),
      said: (message) => this.#events?.said(message),
      unsendable: (problem) => link.cut(`Cannot send ${problem}`),
      closed: (end) => this.#linkClosed(end),
    });
    this.#link = link;
    const early = this.isVolunteer ? fromVolunteer : {};
    link.expect(this.#place === null ? early : fromNodeShapes(this.#place));
    for (const message of this.#unsent.splice(0)) link.send(message);
  }

  #forward(stream: Stream): void {
    const source = this.#started?.[stream];
    source?.on("data", (bytes: Buffer) => {
      if (this.#events === null) return;
      source.pause();
      this.#events.printed(stream, bytes, () => source.resume());
    });
  }

  /** Its messages and its output are read to the end first. */
  async #watchExit(started: StartedNode): Promise<void> {
    const loss = await started.exited;
    this.#invited.withdraw();
    const waited = setTimeout(() => this.#end(loss), openAfterExitMsMax);
    await Promise.all([started.streamsEnded, this.#link === null ? undefined : this.#linkIsClosed]);
    clearTimeout(waited);
    this.#end(loss);
  }

  #linkClosed({ kind, why }: LinkEnd): void {
    this.#closed();
    const loss: NodeLoss = { kind: "cut", why };
    const started = this.#started;
    if (started === null) this.#end(loss);
    if (started?.isAlive !== true) return;
    const kill = (): void => {
      if (started.signal("SIGKILL")) this.#killedFor = loss;
    };
    if (kind === "cut") kill();
    else {
      // What the system has said meanwhile is read before the process is judged.
      const waited = setTimeout(() => setImmediate(kill), aliveAfterLinkMsMax);
      void started.exited.then(() => clearTimeout(waited));
    }
  }

  #end(loss: NodeLoss): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#invited.withdraw();
    this.#link?.cut("its process is gone");
    this.#events?.ended(this.#hasLeft ? { kind: "left" } : (this.#killedFor ?? loss));
    this.#isGone();
  }
}
