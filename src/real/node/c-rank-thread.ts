/** A thread with one or several ranks of a C program, seen from the node's main thread: each rank has a channel of its own. */

import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { Ending } from "../../core/service/ending.ts";
import { threadOptions } from "../machine/thread-options.ts";
import { newUndisturbed } from "../machine/undisturbed.ts";
import type { CThreadSetup, FromRank, RankSetup, ToRank } from "../messages/rank-messages.ts";
import { createLineRing, LineReader } from "../output/line-ring.ts";
import { endingOfError } from "../rank/error-report.ts";
import { rankLoader } from "./rank-code.ts";
import type { RankInThread, RankThreadEvents } from "./rank-thread.ts";
import { terminateThread } from "./terminate-thread.ts";

interface CRankOptions {
  readonly setup: Omit<RankSetup, "lines">;
  readonly events: RankThreadEvents;
}

/** The node's end of each of the ranks, in their order. */
export function startCThread(options: readonly CRankOptions[], stackMb: number): RankInThread[] {
  const ranks = options.map(({ setup, events }) => {
    const { port1: here, port2: there } = new MessageChannel();
    return {
      setup: { ...setup, lines: createLineRing() },
      events,
      here,
      there,
      ending: undefined as Ending | undefined,
    };
  });
  const undisturbed = newUndisturbed();
  const workerData: CThreadSetup = {
    code: options[0]!.setup.code,
    ranks: ranks.map(({ setup, there }) => ({ setup, port: there })),
    undisturbed,
  };
  const worker = new Worker(rankLoader, {
    execArgv: threadOptions,
    eval: true,
    workerData,
    transferList: ranks.map(({ there }) => there),
    // Printed lines have a ring of their own; these streams would lose them while the thread blocks.
    stdout: true,
    stderr: true,
    resourceLimits: { stackSizeMb: stackMb },
  });
  let failure: Ending | undefined;
  const isAlone = ranks.length === 1;
  const end = (rank: (typeof ranks)[number], ending: Ending): void => {
    if (rank.ending !== undefined) return;
    rank.ending = ending;
    rank.here.close();
    rank.events.ended(ending);
  };
  let said: Ending | undefined;
  const hear = (rank: (typeof ranks)[number], message: FromRank): void => {
    if (message.kind !== "ending") rank.events.said(message);
    // Nothing of that rank runs any more. Alone in its thread it has ended when the thread has.
    else if (isAlone) said = message.ending;
    else end(rank, message.ending);
  };
  for (const rank of ranks) rank.here.on("message", (message: FromRank) => hear(rank, message));
  worker.on("exit", (code) => {
    for (const rank of ranks) {
      // The end of the thread overtakes what was said last.
      for (let left = receiveMessageOnPort(rank.here); left !== undefined; left = receiveMessageOnPort(rank.here)) {
        hear(rank, left.message as FromRank);
      }
      end(rank, said ?? failure ?? { kind: "vanished", code });
    }
  });
  worker.on("error", (error: unknown) => {
    failure = endingOfError(error);
  });
  const together = ranks.map(({ setup }) => setup.rank);
  return ranks.map(({ setup, here }) => ({
    rank: setup.rank,
    together,
    lines: new LineReader(setup.lines),
    post: (message: ToRank) => here.postMessage(message),
    terminate: () => terminateThread(worker, undisturbed),
  }));
}
