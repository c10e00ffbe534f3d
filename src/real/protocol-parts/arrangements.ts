/** Protocols that arrange the ranks of a job in a way of their own. */
import { channelMemory } from "../../core/ft/channel-memory/definition.ts";
import type { ProtocolDefinition } from "../../core/ft/definition.ts";
import { logging } from "../../core/ft/logging/definition.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import { setsByNode, setsByRank } from "../../core/ft/sets.ts";
import { placedInBlocks } from "../../core/service/placement.ts";
import { arrangeSets } from "../logging/arrange.ts";
import type { Arrange, Arrangement, JobToArrange } from "../part-hosts/arrangement.ts";

const arrangements: Readonly<Record<string, Arrange>> = {
  [logging.name]: arrangeSets,
  // No rank waits for another when it falls, nor when it is captured.
  [channelMemory.name]: (_values, { ranks, nodes }) => {
    return { setOf: setsByRank(ranks), placement: placedInBlocks(ranks, nodes), note: "", finished: () => "" };
  },
};

/** Of a job under a protocol that starts the lost again: as its own part says, or the ranks of each node. */
export function arrangementOf(
  { name }: ProtocolDefinition,
  values: OptionValues,
  job: JobToArrange,
): Arrangement | string {
  const arrange = arrangements[name];
  if (arrange !== undefined) return arrange(values, job);
  const placement = placedInBlocks(job.ranks, job.nodes);
  return { setOf: setsByNode(placement), placement, note: "", finished: () => "" };
}
