/**
 * npx and npm scripts do not pass on the signal that ends them. If one of them started this process and has ended, the user has
 * cancelled the job.
 */
const periodMs = 500;

/** Calls `gone` once when the parent has ended; only under npm. Returns a function that stops watching. */
export function endWithParent(gone: () => void): () => void {
  const { npm_command, npm_lifecycle_event } = process.env;
  if (npm_command === undefined && npm_lifecycle_event === undefined) return () => {};
  const parent = process.ppid;
  const watching = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watching);
    gone();
  }, periodMs);
  watching.unref();
  return () => clearInterval(watching);
}
