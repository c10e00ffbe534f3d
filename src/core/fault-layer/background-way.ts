/** How the root of a communicator speaks to all members. */

/** By the layer's own tree (thesis §5.3.5.1), or by non-blocking broadcasts of the base that are started in advance (§5.3.5.2). */
export const backgroundWays = ["tree", "ibcast"] as const;
export type BackgroundWay = (typeof backgroundWays)[number];
