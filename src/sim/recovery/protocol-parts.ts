/** The parts of a protocol in a simulated world, beside those in its processes: what its folder in real/ is for real jobs. */
import type { Checkpoint } from "../../core/ft/checkpoint.ts";
import type { JobPart } from "../../core/ft/job-part.ts";
import type { NewProtocol } from "../../core/ft/protocol.ts";

export interface ProtocolParts {
  readonly job: JobPart;
  /** For a process of the set's present life. */
  newProtocol(rank: number): NewProtocol;
  /** The next life of a set begins, with what the job's part has for the nodes of its members. */
  begin(set: number, incarnation: number, forNode: unknown): void;
  /** A process has died. */
  crashed(rank: number): void;
  /** The nodes of a set hear that no older image will be restored. */
  trimmed(set: number, oldest: Checkpoint): void;
}
