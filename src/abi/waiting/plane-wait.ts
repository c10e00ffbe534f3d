/**
 * A wait of a data plane, for a message or at the gate of a board, of a process that shares its thread: the engine hears nothing of it
 * (docs/adr/0026-waits-and-exchanges-in-the-data-plane.md). The process makes no progress and hears nothing meanwhile, because nothing is
 * under way and the plane's look sees everything that could be heard. It is let go on before anything else is done with it, so no image is
 * taken of such a wait.
 */

/** What a look of a plane shows: nothing new; something that the engine must see to. Any other number: what the plane waits for may be there. */
const Sight = { NOTHING: 0, ENGINE: 2 } as const;

/** After so many sleeps of the thread the engine waits: it can ask others, and tell people where the process is. */
const sleepsMax = 20;

export class PlaneWait {
  #look: (() => number) | null = null;
  #seen: number = Sight.NOTHING;
  #sleeps = 0;

  get isUnderWay(): boolean {
    return this.#look !== null;
  }

  /** `look` answers with a `Sight`. */
  begin(look: () => number): void {
    this.#look = look;
    this.#seen = Sight.NOTHING;
    this.#sleeps = 0;
  }

  /** Is there anything for the plane or the engine to see to? */
  hasNews(): boolean {
    if (this.#seen !== Sight.ENGINE) this.#seen = this.#look!();
    return this.#seen !== Sight.NOTHING;
  }

  /** The thread has slept. */
  slept(): void {
    if (++this.#sleeps >= sleepsMax) this.leave();
  }

  /** The engine shall wait. */
  leave(): void {
    this.#seen = Sight.ENGINE;
  }

  /** The process goes on. May the plane wait again, if it finds nothing? */
  end(): boolean {
    this.#look = null;
    return this.#seen !== Sight.ENGINE;
  }
}
