/** What the C binding needs of the world it runs in. */
import type { HostWorld } from "../../core/binding/world.ts";
import type { StopWord } from "./suspension.ts";

export interface CHost extends HostWorld {
  /** Others make this process stop inside an MPI call by it; see suspension.ts. */
  readonly stop: StopWord;
}
