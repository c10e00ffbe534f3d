/** The parts of a protocol in a simulated world, beside those in its processes: what its folder in real/ is for real jobs. */
import type { Service } from "../../core/fault/plan.ts";
import type { Checkpoint } from "../../core/ft/checkpoint.ts";
import type { JobPart, JobPartPorts } from "../../core/ft/job-part.ts";
import type { NewProtocol } from "../../core/ft/protocol.ts";

export interface ProtocolParts {
  readonly job: JobPart;
  /** The first lives of all sets begin. */
  beginAll(): void;
  /** For a process of the set's present life. */
  newProtocol(rank: number): NewProtocol;
  /** The dispatcher's process is lost, and with it the part for the job: from now on `job` is that of a successor. */
  dispatcherCrashed(): void;
  /** The next life of a set begins, with what the job's part has for the nodes of its members. */
  begin(set: number, incarnation: number, forNode: unknown): void;
  /** The part in a node hears words of the part for the job. Not there where that part says nothing to nodes. */
  nodeHeard?(node: number, words: unknown): void;
  /** A process has died. */
  crashed(rank: number): void;
  /** Processes of a node are taken for dead, and live; their sets begin again beside them. */
  disowned(ranks: readonly number[]): void;
  /** No suspect is left. */
  endSuspects(): void;
  /** The nodes of a set hear that no older image will be restored. */
  trimmed(set: number, oldest: Checkpoint): void;
  /** A service of the protocol is lost, with its contents or only its connections. */
  lose(service: Service, keepsContents: boolean | undefined): void;
  /** All of them crash. */
  loseAll(): void;
}

/** What such parts may use. */
export interface PartsPorts {
  nowNs(): number;
  plan(timeNs: number, act: () => void): void;
  wake(rank: number): void;
  /** Are all processes of these ranks dead? */
  areDead(ranks: readonly number[]): boolean;
  /** The part for the job is told something: it may want to be called at another time. */
  feed(tell: (nowMs: number) => void): void;
  /** Words of a rank for the part for the job. */
  say(rank: number, words: unknown): void;
  /** Words of the part in a node for the part for the job. */
  sayOf(node: number, words: unknown): void;
  readonly job: JobPartPorts;
}
