/** Options of `banyan run` for jobs with so many channel memories; 0: without the protocol. */
export const optionsOfMemories = (memories: number): string[] =>
  memories === 0 ? [] : ["--protocol", "channel-memory", "--memories", `${memories}`];
