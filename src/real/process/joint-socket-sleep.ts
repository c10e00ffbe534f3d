/**
 * The sleep of a thread in which several processes with sockets take turns: over the sockets of all of them. As in joint-sleep.ts it takes
 * two calls. The thread has an epoll descriptor of its own, in which those of its processes are: each can be read when one of the process's
 * sockets can, or when another thread wakes the process. Before the first connection, and where sockets cannot be watched, the thread sleeps
 * on a bell.
 */
import { Bell } from "../transport/layout.ts";
import type { SocketCalls } from "../transport/sockets/socket-calls.ts";
import { JointSleep, type ProcessBell } from "./joint-sleep.ts";

/** Sockets of a process in such a thread. */
export interface ProcessSockets {
  /** See `TcpTransport`. */
  readonly readyFd: number;
  watchBlocked(watch: boolean): void;
  collect(): void;
  /** System calls for the thread itself, with room in the memory of this process. */
  openCalls(): SocketCalls;
  /** Until the process has sockets that eventfd wakes the thread for it. */
  wakeBy(eventfd: number): void;
}

export interface SleepingProcess {
  readonly bell: ProcessBell;
  /** Null: a job of one node. */
  readonly sockets: ProcessSockets | null;
}

interface Member {
  readonly bell: ProcessBell;
  readonly sockets: ProcessSockets;
}

export function jointSleepOf(processes: readonly SleepingProcess[]): JointSleep | JointSocketSleep {
  const members = processes.filter((each): each is Member => each.sockets !== null);
  if (members.length === 0) return new JointSleep(processes.map(({ bell }) => bell));
  return new JointSocketSleep(members);
}

class JointSocketSleep {
  #members: readonly Member[];
  #onBell: JointSleep;
  #calls: SocketCalls | null = null;
  /** By the descriptors that the thread's own watches. */
  readonly #watched = new Map<number, ProcessSockets>();
  #isOverSockets = false;

  constructor(members: readonly Member[]) {
    this.#members = members;
    this.#onBell = new JointSleep(members.map(({ bell }) => bell));
  }

  get isAnnounced(): boolean {
    return this.#isOverSockets || this.#onBell.isAnnounced;
  }

  /** Does a packet from another node end its sleep? */
  get watchesSockets(): boolean {
    return this.#watched.size !== 0;
  }

  announce(): void {
    this.#adopt();
    if (this.#watched.size === 0) {
      this.#onBell.announce();
      return;
    }
    this.#isOverSockets = true;
    for (const { bell, sockets } of this.#members) {
      if (sockets.readyFd < 0) sockets.wakeBy(this.#calls!.wakeFd);
      bell.set(Bell.PARKED_ELSEWHERE);
    }
  }

  /** `alsoFds`: descriptors that end this sleep as well, of processes that wait for something else than messages. */
  sleep(ms: number, alsoFds: readonly number[] = []): void {
    // A process has its first sockets since the announcement: everything is to be looked at once more.
    if (this.#adopt()) this.awake();
    else if (this.#isOverSockets) this.#sleepOverSockets(ms, alsoFds);
    else this.#onBell.sleep(ms);
  }

  awake(): void {
    this.#onBell.awake();
    if (!this.#isOverSockets) return;
    this.#isOverSockets = false;
    for (const { bell } of this.#members) bell.set(Bell.AWAKE);
  }

  /** That process has ended: nobody reads its sockets any more, and what can be read ends every sleep. */
  leave(ended: SleepingProcess): void {
    this.awake();
    this.#members = this.#members.filter(({ bell }) => bell !== ended.bell);
    this.#onBell = new JointSleep(this.#members.map(({ bell }) => bell));
    for (const [fd, sockets] of this.#watched) {
      if (sockets !== ended.sockets) continue;
      this.#calls!.close(fd);
      this.#watched.delete(fd);
    }
  }

  #sleepOverSockets(ms: number, alsoFds: readonly number[]): void {
    const calls = this.#calls!;
    for (const { sockets } of this.#members) sockets.watchBlocked(true);
    for (const fd of alsoFds) calls.open(fd);
    const found = calls.wait(ms);
    // Only while it is waited for: what nobody reads would end every sleep.
    for (const fd of alsoFds) calls.close(fd);
    for (const { sockets } of this.#members) sockets.watchBlocked(false);
    for (let i = 0; i < found; i++) this.#watched.get(calls.readyAt(i))?.collect();
    this.awake();
  }

  /** Watches the sockets of processes that have them now. True: of some that had none. */
  #adopt(): boolean {
    let isNew = false;
    for (const { sockets } of this.#members) {
      const fd = sockets.readyFd;
      if (fd < 0 || this.#watched.has(fd)) continue;
      this.#calls ??= sockets.openCalls();
      this.#calls.open(fd);
      this.#watched.set(fd, sockets);
      isNew = true;
    }
    return isNew;
  }
}
