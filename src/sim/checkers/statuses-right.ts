import { ANY_SOURCE } from "../../core/base/constants.ts";
import type { Receipt } from "../observation.ts";
import { sourcesOf } from "../script/communicator-plan.ts";
import type { Script } from "../script/script.ts";
import type { Checker } from "./checker.ts";
import { type FailedRequest, isExcused } from "./excuses.ts";

/**
 * Statuses tell source, tag and size of the message that came, the message is one that may come, and probes said the same
 * before. A receive ends with an error only where its sender may be dead, or its communicator revoked.
 */
export const statusesRight: Checker = {
  name: "statuses are right",
  check: (evidence) =>
    evidence.observation.receipts.flatMap((receipt) => {
      if (receipt.error !== 0 && isExcused(evidence, failedReceive(evidence.script, receipt))) return [];
      const problem = problemOf(evidence.script, receipt);
      return problem === null ? [] : [`receive ${receipt.receive}: ${problem}`];
    }),
};

function failedReceive({ receives, communicators }: Script, { receive, error }: Receipt): FailedRequest {
  const { communicator, at, source } = receives[receive]!;
  const peers = sourcesOf(communicators[communicator]!, at, source);
  return { error, communicators: [communicator], peers, isWildcard: source === ANY_SOURCE };
}

function problemOf(script: Script, receipt: Receipt): string | null {
  const { message: number, source, tag, bytes, error, probed } = receipt;
  if (error !== 0) return `it ended with error ${error}`;
  const plan = script.receives[receipt.receive]!;
  const message = script.messages[number];
  if (message === undefined) return "it took something that was never sent";
  const mayTake = plan.mayTake?.includes(number) ?? true;
  if (!mayTake || message.communicator !== plan.communicator || message.to !== plan.at) {
    return `it took message ${number}, which is not for it`;
  }
  if (source !== message.from || tag !== message.tag || bytes !== message.bytes) {
    const wanted = [message.from, message.tag, message.bytes].join(", ");
    return `source, tag, bytes are ${[source, tag, bytes].join(", ")}, of message ${number} ${wanted}`;
  }
  if (probed !== null && (probed.source !== source || probed.tag !== tag || probed.bytes !== bytes)) {
    return `the probe spoke of ${[probed.source, probed.tag, probed.bytes].join(", ")}, and message ${number} came`;
  }
  return null;
}
