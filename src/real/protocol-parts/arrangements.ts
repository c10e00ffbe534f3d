/** Protocols that arrange the ranks of a job in a way of their own. */
import { logging } from "../../core/ft/logging/definition.ts";
import { arrangeSets } from "../logging/arrange.ts";
import type { Arrange } from "../part-hosts/arrangement.ts";

export const arrangements: Readonly<Record<string, Arrange>> = { [logging.name]: arrangeSets };
