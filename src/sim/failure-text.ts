/** What is printed of a seed that failed: what it violated, and the one command that runs it again. */
import type { SeedOptions, SeedOutcome } from "./run-seed.ts";

/** The first ones usually explain the rest. */
const violationsShownMax = 10;

export function failureText(
  { seed, ranks, events }: Pick<SeedOptions, "seed" | "ranks" | "events">,
  { violations, ranks: ranksThere }: Pick<SeedOutcome, "violations" | "ranks">,
): string {
  const lines = violations.slice(0, violationsShownMax).map(({ invariant, what }) => `  ${invariant}: ${what}`);
  if (violations.length > lines.length) lines.push(`  and ${violations.length - lines.length} more`);
  const again = ["npx banyan sim", `--seed ${seed}`];
  if (ranks !== undefined) again.push(`--ranks ${ranks}`);
  if (events !== undefined) again.push(`--events ${events}`);
  return [`seed ${seed} failed, ${ranksThere} ranks. To run it again: ${again.join(" ")}`, ...lines].join("\n");
}
