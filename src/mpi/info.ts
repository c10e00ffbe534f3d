/** An info object of the program's (MPI 5.0 §10): hints as strings by string keys. Its errors go to `mpi.self`'s handler. */
import { Info as CoreInfo } from "../core/comm/info.ts";
import type { Environment } from "./environment.ts";

export class Info extends CoreInfo {
  readonly #environment: Environment;

  constructor(environment: Environment, entries: Iterable<readonly [string, string]> = []) {
    super();
    this.#environment = environment;
    for (const [key, value] of entries) this.set(key, value);
  }

  override set(key: string, value: string): void {
    this.#environment.guard(() => super.set(key, value));
  }

  override get(key: string): string | undefined {
    return this.#environment.guard(() => super.get(key));
  }

  override has(key: string): boolean {
    return this.#environment.guard(() => super.has(key));
  }

  override delete(key: string): void {
    this.#environment.guard(() => super.delete(key));
  }

  override nthKey(n: number): string {
    return this.#environment.guard(() => super.nthKey(n));
  }

  override dup(): Info {
    return new Info(this.#environment, this);
  }
}
