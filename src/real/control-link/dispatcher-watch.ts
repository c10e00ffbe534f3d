/**
 * Notices in a node that the dispatcher's machine is gone. A dispatcher that dies takes its end of the link with it, and the link closes; a
 * machine that loses its power or its network closes nothing, and the node would compute in vain. So a node that has heard nothing for
 * a while knocks at the dispatcher's door: connects there, and hangs up.
 *
 * | at the door | it means | then |
 * |---|---|---|
 * | a challenge comes | the dispatcher lives, and has nothing to say | the next knock is as far away as this one was |
 * | the call is taken and not answered | it is stopped (Ctrl-Z), or very busy | the next knock is twice as far away |
 * | the call is refused | no process listens there: the dispatcher is gone | the node ends |
 * | nothing, or no way there, several times | so is its machine | the node ends |
 *
 * Silence alone means nothing: a stopped dispatcher goes on another day, and so does its job.
 */
import { type Knock, knock } from "./knock.ts";

interface DispatcherWatchOptions {
  readonly host: string;
  readonly port: number;
  /** After so long without a word; 15 s unless given, until the dispatcher says otherwise. */
  readonly quietMs?: number;
  /** So long a knock may take; 10 s unless given. */
  readonly knockMsMax?: number;
  /** The dispatcher is gone. Called once. */
  gone(why: string): void;
}

const quietMsDefault = 15_000;
const knockMsMaxDefault = 10_000;
/** Failed knocks until the machine counts as gone. */
const unreachableMax = 3;

export class DispatcherWatch {
  readonly #options: Required<DispatcherWatchOptions>;
  #quietMs: number;
  #waitMs: number;
  #hasHeard = false;
  #unreachable = 0;
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor({ quietMs = quietMsDefault, knockMsMax = knockMsMaxDefault, ...options }: DispatcherWatchOptions) {
    this.#options = { quietMs, knockMsMax, ...options };
    this.#quietMs = quietMs;
    this.#waitMs = quietMs;
    this.#timer = this.#wait();
  }

  /** The dispatcher has said how long it may be quiet: it is the first to give up a link over which nothing comes. */
  quietIs(quietMs: number): void {
    this.#quietMs = quietMs;
  }

  /** Something has come over the link. */
  heard(): void {
    this.#hasHeard = true;
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #wait(): NodeJS.Timeout {
    this.#hasHeard = false;
    return setTimeout(() => void this.#look(), this.#waitMs).unref();
  }

  async #look(): Promise<void> {
    const answer: Knock = this.#hasHeard ? "alive" : await knock(this.#options, this.#options.knockMsMax);
    if (this.#isOver) return;
    if (answer === "alive") this.#waitMs = this.#quietMs;
    if (answer === "mute") this.#waitMs *= 2;
    this.#unreachable = answer === "unreachable" ? this.#unreachable + 1 : 0;
    if (answer === "refused" || this.#unreachable >= unreachableMax) {
      const { host, port } = this.#options;
      this.#options.gone(`nobody answers at ${host}:${port}`);
    } else this.#timer = this.#wait();
  }
}
