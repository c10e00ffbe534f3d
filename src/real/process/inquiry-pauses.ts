/**
 * How long a wait may last before the process asks those it waits for (core/process/inquiries.ts): a second at first, then longer
 * each time. A question that proves nothing costs a packet or two, so the bounds matter little; no answer is waited for.
 */
const firstMs = 1_000;
const longestMs = 16_000;

export class InquiryPauses {
  /** When to ask, −1: the process has not waited yet. */
  #dueMs = -1;
  #pauseMs = firstMs;

  /** The process still waits, at that time. True: it shall ask now. */
  isTime(nowMs: number): boolean {
    if (this.#dueMs < 0) {
      this.#pauseMs = firstMs;
      this.#dueMs = nowMs + firstMs;
      return false;
    }
    if (nowMs < this.#dueMs) return false;
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestMs);
    this.#dueMs = nowMs + this.#pauseMs;
    return true;
  }

  /** A wait of several is over, at that time; the others are not. They ask as if they had begun to wait now, or sooner. */
  shorten(nowMs: number): void {
    if (this.#dueMs < 0) return;
    this.#pauseMs = firstMs;
    this.#dueMs = Math.min(this.#dueMs, nowMs + firstMs);
  }

  /** The wait is over. */
  end(): void {
    this.#dueMs = -1;
  }
}
