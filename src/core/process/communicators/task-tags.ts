/**
 * Tags of the messages by which communicators are made. They travel in contexts of collectives, whose tags count up from 0,
 * so these lie below, and ANY_TAG does not match them. The program may choose a tag for some of them.
 */
export const agreementTag = -100;
export const finalTag = -103;
/** Of the broadcasts of the fault-simulation layer. */
export const broadcastTag = -104;

/**
 * Of what only a group, or the leaders of two, talk about. The last few of the program's 2^30 tags come out beyond the 32
 * bits of a packet and wrap round to the end of the positive ones, where no collective gets.
 */
export const groupTag = (tag: number): number => (-1000 - 2 * tag) | 0;
export const interTag = (tag: number): number => (-1001 - 2 * tag) | 0;
