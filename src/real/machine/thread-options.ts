/**
 * Options of Node for the threads of a node. Not those of its process: a thread that inherits `--inspect-wait` waits for a debugger of its own, which those that see no
 * threads (Chrome's DevTools on Node 20) never attach.
 */
export const threadOptions: string[] = ["--disable-warning=ExperimentalWarning"];
