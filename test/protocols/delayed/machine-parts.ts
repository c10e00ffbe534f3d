/**
 * The parts of the delayed protocol in nodes and beside the dispatcher, which only show that such parts can speak: each node says how
 * many ranks it has, is answered with their sum so far, and confirms the answer.
 */
import type { JobPart } from "../../../src/core/ft/job-part.ts";
import type { JobPartHost, JobPartHostPorts } from "../../../src/real/part-hosts/job-part-host.ts";
import type { NodePart, NodePartSetup } from "../../../src/real/part-hosts/node-part.ts";
import type { NodeGreeting, NodeWelcome } from "./definition.ts";

export interface DelayedJobReport {
  /** Ranks of all nodes that have said how many they have. */
  readonly ranks: number;
  /** Nodes that have confirmed their answer. */
  readonly confirmed: number;
}

const never = (): never => {
  throw new Error("nobody is started again under this protocol");
};

export class DelayedJobHost implements JobPartHost {
  readonly #ports: JobPartHostPorts;
  readonly #counts = { ranks: 0, confirmed: 0 };
  /** What each node was answered. */
  readonly #answers = new Map<number, number>();

  constructor(ports: JobPartHostPorts) {
    this.#ports = ports;
  }

  readonly part: Omit<JobPart, "forNode" | "tick" | "nextTimeMs"> = {
    prepare: never,
    mayCommit: never,
    committed: never,
    rankSaid: never,
    nodeSaid: (node, words) => {
      const { ranks, confirms } = words as NodeGreeting;
      if (ranks > 0) {
        this.#counts.ranks += ranks;
        this.#answers.set(node, this.#counts.ranks);
        this.#ports.toNode(node, { sum: this.#counts.ranks } satisfies NodeWelcome);
      } else if (confirms === this.#answers.get(node)) this.#counts.confirmed++;
    },
  };

  forNode(): undefined {
    return undefined;
  }

  nodeStarted(): void {}
  allBegan(): void {}
  tick(): void {}

  kill(): boolean {
    return false;
  }

  async end(): Promise<void> {}

  get report(): DelayedJobReport {
    return { ...this.#counts };
  }
}

export class DelayedNode implements NodePart {
  readonly #setup: NodePartSetup;

  constructor(setup: NodePartSetup) {
    this.#setup = setup;
    setup.say({ ranks: setup.ranks.length, confirms: 0 } satisfies NodeGreeting);
  }

  forRank(): undefined {
    return undefined;
  }

  said(words: unknown): void {
    const { sum } = words as NodeWelcome;
    this.#setup.say({ ranks: 0, confirms: sum } satisfies NodeGreeting);
  }

  restart = never;
  trim = never;
  relay(): void {}
}
