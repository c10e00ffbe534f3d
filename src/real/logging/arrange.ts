/** The correlated sets of a job under message logging and their nodes: the meaning of `--sets` and `--traffic`. */
import { describeSystemError } from "../../core/base/system-error.ts";
import type { LoggingLaunchOptions } from "../../core/ft/logging/options.ts";
import { loggingReport } from "../../core/ft/logging/report.ts";
import type { OptionValues } from "../../core/ft/option.ts";
import { membersBySet, setsByNode, setsByRank, setsFromLists } from "../../core/ft/sets.ts";
import { type Placement, placedBySets, placedInBlocks } from "../../core/service/placement.ts";
import { placeByTraffic } from "../../core/service/traffic-sets.ts";
import type { Arrangement, JobToArrange } from "../part-hosts/arrangement.ts";
import { readTraffic, trafficFileIn, writeTraffic } from "./traffic-file.ts";

export function arrangeSets(values: OptionValues, job: JobToArrange): Arrangement | string {
  const { ranks, nodes } = job;
  const { sets = "node", trafficFile } = values as LoggingLaunchOptions;
  const blocks = placedInBlocks(ranks, nodes);
  if (sets === "node") return arranged(setsByNode(blocks), blocks);
  if (sets === "rank") return arranged(setsByRank(ranks), blocks);
  if (sets === "traffic") return byTraffic(blocks, trafficFile ?? cachedIn(job));
  const setOf = setsFromLists(sets, ranks);
  if (typeof setOf === "string") return `Cannot use these sets: ${setOf}`;
  const placement = placedBySets(setOf, nodes);
  if (!("tooLarge" in placement)) return arranged(setOf, placement);
  const members = membersBySet(setOf)[placement.tooLarge]!.join(", ");
  return `Cannot use these sets: ranks ${members} are one set, and no node has room for them all; make it smaller, or the nodes fewer`;
}

const arranged = (setOf: readonly number[], placement: Placement): Arrangement => {
  return { setOf, placement, note: "", finished: () => "" };
};

const cachedIn = ({ cacheFolder, program, ranks }: JobToArrange): string =>
  cacheFolder === "" ? "" : trafficFileIn(cacheFolder, program, ranks);

/** Where every rank is a set of its own all messages are logged: the logs of such a run are its traffic. */
function byTraffic(blocks: Placement, file: string): Arrangement | string {
  if (file === "") return "Cannot use sets of traffic: say where it is kept, with trafficFile";
  const traffic = readTraffic(file, blocks.length);
  if (typeof traffic === "string") return traffic;
  if (traffic === null) return measuring(blocks, file);
  const placement = placeByTraffic(traffic, blocks);
  return arranged(setsByNode(placement), placement);
}

/** The traffic is unknown: this run measures it for the next one. */
function measuring(placement: Placement, file: string): Arrangement {
  return {
    setOf: setsByRank(placement.length),
    placement,
    note: `the traffic of this program is not known yet: every rank is a set in this run, and the next one finds it in ${file}`,
    finished(report) {
      try {
        writeTraffic(file, loggingReport(report));
        return "";
      } catch (error) {
        return `cannot write the traffic to ${file}: ${describeSystemError(error)}`;
      }
    },
  };
}
