/** Replication's part for the whole job: what replicas say of each other is told to the user; one that others outvote is ended. */
import type { ProcessName } from "../../base/identity.ts";
import type { JobPart } from "../job-part.ts";
import { type DivergedWords, divergenceText } from "./comparing/divergence.ts";
import { differenceText, type SuspectedWords, suspicionText } from "./comparing/suspicion.ts";

interface ReplicationJobPorts {
  note(message: string): void;
  /** That process ends, if it is still in that life. */
  endProcess(name: ProcessName, life: number): void;
  /** The job goes back to a checkpoint, or ends with that line. `difference`: between which replicas, in which message. */
  disputed(message: string, difference: string): void;
}

export class ReplicationJob implements Omit<JobPart, "forNode" | "tick" | "nextTimeMs"> {
  readonly #ports: ReplicationJobPorts;
  #hasDiverged = false;
  /** Processes that were accused, in which life: several receivers find it. */
  readonly #accused = new Set<string>();

  constructor(ports: ReplicationJobPorts) {
    this.#ports = ports;
  }

  rankSaid(_process: number, words: unknown): void {
    const said = words as DivergedWords | SuspectedWords;
    if (said.kind === "suspected") this.#suspect(said);
    else this.#diverge(said);
  }

  /** Several replicas of several ranks find it. */
  #diverge(words: DivergedWords): void {
    if (this.#hasDiverged) return;
    this.#hasDiverged = true;
    this.#ports.note(divergenceText(words));
  }

  #suspect(words: SuspectedWords): void {
    const { rank, accused, life } = words;
    const name = `${rank} ${accused} ${life}`;
    if (this.#accused.has(name)) return;
    this.#accused.add(name);
    if (accused < 0) {
      this.#ports.disputed(suspicionText(words), differenceText(words));
      return;
    }
    this.#ports.note(suspicionText(words));
    this.#ports.endProcess({ rank, replica: accused }, life);
  }

  /** Replicas that others have outvoted. */
  get corrupt(): number {
    return this.#accused.size;
  }

  /** Nobody is started again. */
  prepare(): void {}
  mayCommit(): boolean {
    return false;
  }
  committed(): void {}
}
