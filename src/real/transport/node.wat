;; Everything that several threads of a node do to the same words, because V8 never inlines Atomics.* (17 to 20 ns each; a
;; call into here costs 7 and its atomics 1 to 2 more). Every atomic operation of the transport is in this file and the
;; explorer beside it runs this very module through all interleavings; it knows only the instructions used here.
;;
;; Offsets in a process's line: bell 0, status 128, intent 256; stride 512. In a ring: tail 0, head 128, waiters 256, slots
;; from 384, 128 bytes each. In a board: present 0, arrived 128 and 256, gate 384, members 512. layout.ts has the same.
;;
;; Positions count packets of a ring and wrap at 2^32. The slot of position p is p mod slots (a power of two, so wrapping is
;; seamless), its stamp when committed is p + 1: nothing is cleared and a producer never reads a slot.
(module
  (import "node" "memory" (memory 1 65536 shared))
  (import "node" "lines" (global $lines i32))         ;; the first process's line
  (import "node" "producers" (global $producers i32)) ;; how many lines there are
  (import "node" "slots" (global $slots i32))
  (import "node" "own" (global $own i32))             ;; the line of the process this instance belongs to
  (import "node" "break" (global $break i32))         ;; where the heap's break pointer is
  (import "node" "end" (global $end i32))             ;; the end of the heap

  ;; ---- bells ------------------------------------------------------------------------------------------------------
  ;; A process says "parked" in its bell, looks at everything once more and sleeps on the word. Whoever changes something
  ;; it may wait for changes first and reads the bell then. All of it is sequentially consistent, so either the sleeper's
  ;; last look sees the change or the other side sees "parked".

  ;; Processes that share a thread sleep together, on the bell of one of them: the bells of the others say its address.

  ;; Wakes the owner of the bell if it is parked. Returns what the bell said: 2 asks the caller to wake it elsewhere (the
  ;; bell then stays as it is until its owner is awake).
  (func $ring (export "ring") (param $bell i32) (result i32)
    (local $was i32)
    (if (i32.eqz (local.tee $was (i32.atomic.load (local.get $bell)))) (then (return (i32.const 0))))
    (if (i32.gt_u (local.get $was) (i32.const 2)) (then (return (call $ring (local.get $was)))))
    (local.set $was (i32.atomic.rmw.cmpxchg (local.get $bell) (i32.const 1) (i32.const 0)))
    (if (i32.eq (local.get $was) (i32.const 1))
      (then (drop (memory.atomic.notify (local.get $bell) (i32.const 1)))))
    (local.get $was))

  ;; The same when a waker may have died between its exchange and its notification: the sleeper is then asleep on a bell
  ;; that says "awake". For the main thread, on every death.
  (func $rouse (export "rouse") (param $bell i32) (result i32)
    (local $was i32)
    (if (i32.gt_u (local.tee $was (i32.atomic.load (local.get $bell))) (i32.const 2))
      (then (return (call $rouse (local.get $was)))))
    (local.set $was (i32.atomic.rmw.cmpxchg (local.get $bell) (i32.const 1) (i32.const 0)))
    (drop (memory.atomic.notify (local.get $bell) (i32.const 1)))
    (local.get $was))

  ;; For words that are looked at rarely.
  (func (export "store") (param $address i32) (param $value i32)
    (i32.atomic.store (local.get $address) (local.get $value)))
  (func (export "load") (param $address i32) (result i32)
    (i32.atomic.load (local.get $address)))

  ;; A committed slot, before its packet is read: orders those reads after the stamp, and begins to fetch the payload, whose
  ;; lines are still in the sender's cache, while the caller finds out where it belongs. No more than 4 KiB: the hardware
  ;; has seen by then which way we go. (bytes and payload may be stale in a void slot; any 4 KiB of ours may be read.)
  (func $open (export "open") (param $slot i32)
    (local $at i32) (local $end i32) (local $bytes i32)
    (drop (i32.atomic.load (local.get $slot)))
    (if (i32.eqz (local.tee $at (i32.load offset=28 (local.get $slot)))) (then (return)))
    (local.set $bytes (i32.load offset=20 (local.get $slot)))
    (if (i32.gt_u (local.get $bytes) (i32.const 4096)) (then (local.set $bytes (i32.const 4096))))
    (local.set $end (i32.add (local.get $at) (local.get $bytes)))
    (loop $next
      (drop (i32.load (local.get $at)))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $end)))))

  ;; Looks that many times whether one of two words has the value awaited: 1 as soon as one has.
  (func (export "spin") (param $a i32) (param $wantA i32) (param $b i32) (param $wantB i32) (param $looks i32) (result i32)
    (loop $again
      (if (i32.eq (i32.atomic.load (local.get $a)) (local.get $wantA))
        (then
          (call $open (local.get $a))
          (return (i32.const 1))))
      (if (i32.eq (i32.atomic.load (local.get $b)) (local.get $wantB)) (then (return (i32.const 1))))
      (br_if $again (i32.gt_s (local.tee $looks (i32.sub (local.get $looks) (i32.const 1))) (i32.const 0))))
    (i32.const 0))

  ;; ---- rings ------------------------------------------------------------------------------------------------------

  ;; The address of a free slot, ours until `commit`; 0 when the ring is full. The intent is written before the exchange
  ;; and stays until the next reserve, so whoever holds an uncommitted slot names it in its intent (see `settle`).
  ;; The head is read before the tail: the tail is then never behind it, and a difference of `slots` or more is "full".
  (func (export "reserve") (param $to i32) (result i32)
    (local $head i32) (local $position i32)
    (loop $again
      (local.set $head (i32.atomic.load offset=128 (local.get $to)))
      (local.set $position (i32.atomic.load (local.get $to)))
      (if (i32.ge_u (i32.sub (local.get $position) (local.get $head)) (global.get $slots))
        (then
          (i64.atomic.store offset=256 (global.get $own) (i64.const 0))
          (return (i32.const 0))))
      (i64.atomic.store offset=256 (global.get $own)
        (i64.or (i64.shl (i64.extend_i32_u (local.get $to)) (i64.const 32)) (i64.extend_i32_u (local.get $position))))
      (br_if $again
        (i32.ne
          (i32.atomic.rmw.cmpxchg (local.get $to) (local.get $position) (i32.add (local.get $position) (i32.const 1)))
          (local.get $position))))
    (i32.add
      (i32.add (local.get $to) (i32.const 384))
      (i32.shl (i32.and (local.get $position) (i32.sub (global.get $slots) (i32.const 1))) (i32.const 7))))

  ;; Publishes the slot reserved last (its position is the low half of our intent), then wakes its receiver if need be.
  (func (export "commit") (param $slot i32) (param $bell i32) (param $source i32) (param $payload i32) (result i32)
    (i32.store offset=8 (local.get $slot) (local.get $source))
    (i32.store offset=28 (local.get $slot) (local.get $payload))
    (i32.atomic.store (local.get $slot) (i32.add (i32.load offset=256 (global.get $own)) (i32.const 1)))
    (if (i32.eqz (i32.atomic.load (local.get $bell))) (then (return (i32.const 0))))
    (call $ring (local.get $bell)))

  ;; The consumer is done with everything before `position`. 1 when a producer wants to be woken for it. A producer sets its
  ;; bit and then looks at the head again: either we see the bit here or it sees the head.
  (func (export "publish") (param $ring i32) (param $position i32) (result i32)
    (i32.atomic.store offset=128 (local.get $ring) (local.get $position))
    (call $anyWaiter (local.get $ring)))
  (func $anyWaiter (export "anyWaiter") (param $ring i32) (result i32)
    (local $i i32)
    (loop $again
      (if (i32.atomic.load offset=256 (i32.add (local.get $ring) (i32.shl (local.get $i) (i32.const 2))))
        (then (return (i32.const 1))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (i32.shl (local.get $i) (i32.const 5)) (global.get $producers))))
    (i32.const 0))
  ;; Producer `index` wants to be woken when there is room.
  (func (export "awaitRoom") (param $ring i32) (param $index i32)
    (drop (i32.atomic.rmw.or offset=256
      (i32.add (local.get $ring) (i32.shl (i32.shr_u (local.get $index) (i32.const 5)) (i32.const 2)))
      (i32.shl (i32.const 1) (i32.and (local.get $index) (i32.const 31))))))
  ;; Takes the 32 waiters of one word of the bit set: the caller rings them.
  (func (export "takeWaiters") (param $ring i32) (param $word i32) (result i32)
    (local $at i32)
    (local.set $at (i32.add (local.get $ring) (i32.shl (local.get $word) (i32.const 2))))
    (if (i32.eqz (i32.atomic.load offset=256 (local.get $at))) (then (return (i32.const 0))))
    (i32.atomic.rmw.xchg offset=256 (local.get $at) (i32.const 0)))

  ;; What a dead producer leaves behind: perhaps one slot that it reserved and never committed, which would stop the ring
  ;; for ever. Called for its line after its thread is surely gone and its status says dead. 0: nothing is left. 1: a void
  ;; packet has been committed in its place (ring the bells). 2: cannot tell yet, ask again in a moment.
  ;;
  ;; Why it is right. Let (ring, p) be the dead one's intent D, which nothing changes any more.
  ;; - It can hold an uncommitted slot only at p, its latest intent, and then 1 ≤ tail − p ≤ slots (the head cannot pass an
  ;;   uncommitted slot, the tail cannot be more than `slots` ahead of the head). Otherwise nothing is left.
  ;; - The tail has passed p, so exactly one exchange took p: the dead one's or another's, Q. Q wrote the same intent before
  ;;   its exchange, hence before the tail we read, and replaces it only in its next reserve, after it has committed p. So
  ;;   if we read Q's intent after the tail and it differs from D, then Q has never taken p or has committed it.
  ;; - The stamp is read last. No living process names p and p is not committed: then its owner is dead, gone, and nobody
  ;;   else writes the slot (the next lap needs the head beyond p). We may.
  ;; - A living Q that names p either holds it and will commit, or lost the exchange and moves on in the same call (also
  ;;   when it finds the ring full: it clears its intent): asking again ends. If Q dies meanwhile it is skipped here, and
  ;;   whichever of the two deaths is settled first fills the slot; the other finds the stamp.
  ;; - Stamps of a slot only grow, so a difference ≥ 0 means "committed", also when later laps have passed over it.
  (func (export "settle") (param $dead i32) (result i32)
    (local $intent i64) (local $ringAt i32) (local $position i32) (local $slot i32) (local $i i32) (local $line i32)
    (local $named i32)
    (local.set $intent (i64.atomic.load offset=256 (local.get $dead)))
    (if (i64.eqz (local.get $intent)) (then (return (i32.const 0))))
    (local.set $ringAt (i32.wrap_i64 (i64.shr_u (local.get $intent) (i64.const 32))))
    (local.set $position (i32.wrap_i64 (local.get $intent)))
    (if (i32.ge_u
          (i32.sub (i32.sub (i32.atomic.load (local.get $ringAt)) (local.get $position)) (i32.const 1))
          (global.get $slots))
      (then
        (i64.atomic.store offset=256 (local.get $dead) (i64.const 0))
        (return (i32.const 0))))
    (local.set $line (global.get $lines))
    (loop $next
      (if (i32.and
            (i32.ne (local.get $line) (local.get $dead))
            (i32.eq (i32.and (i32.atomic.load offset=128 (local.get $line)) (i32.const 255)) (i32.const 1)))
        (then
          (if (i64.eq (i64.atomic.load offset=256 (local.get $line)) (local.get $intent))
            (then (local.set $named (i32.const 1))))))
      (local.set $line (i32.add (local.get $line) (i32.const 512)))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (global.get $producers))))
    (local.set $slot
      (i32.add
        (i32.add (local.get $ringAt) (i32.const 384))
        (i32.shl (i32.and (local.get $position) (i32.sub (global.get $slots) (i32.const 1))) (i32.const 7))))
    (if (i32.ge_s
          (i32.sub (i32.sub (i32.atomic.load (local.get $slot)) (local.get $position)) (i32.const 1))
          (i32.const 0))
      (then
        (i64.atomic.store offset=256 (local.get $dead) (i64.const 0))
        (return (i32.const 0))))
    (if (local.get $named) (then (return (i32.const 2))))
    (i32.store offset=4 (local.get $slot) (i32.const 0)) ;; kind VOID
    (i32.atomic.store (local.get $slot) (i32.add (local.get $position) (i32.const 1)))
    (i64.atomic.store offset=256 (local.get $dead) (i64.const 0))
    (i32.const 1))

  ;; ---- copies -----------------------------------------------------------------------------------------------------

  ;; A joint copy: two threads claim chunks of one large copy until none is left. The work's descriptor: at 0 (64 bits)
  ;; its generation (high half) and the next offset (low half), at 8 how many bytes are done. A latecomer finds another
  ;; generation, or nothing left, and does nothing; a claimed chunk keeps the descriptor in use, because its owner waits
  ;; until all bytes are done. bytes + chunk is below 2^32, so the offset never reaches the generation.
  (func (export "copyJointly")
    (param $work i32) (param $generation i32) (param $to i32) (param $from i32) (param $bytes i32) (param $chunk i32)
    (local $next i64) (local $offset i32) (local $length i32)
    (loop $again
      (local.set $next (i64.atomic.load (local.get $work)))
      (if (i32.ne (i32.wrap_i64 (i64.shr_u (local.get $next) (i64.const 32))) (local.get $generation)) (then (return)))
      (local.set $offset (i32.wrap_i64 (local.get $next)))
      (if (i32.ge_u (local.get $offset) (local.get $bytes)) (then (return)))
      (br_if $again
        (i64.ne
          (i64.atomic.rmw.cmpxchg (local.get $work) (local.get $next)
            (i64.add (local.get $next) (i64.extend_i32_u (local.get $chunk))))
          (local.get $next)))
      (local.set $length (i32.sub (local.get $bytes) (local.get $offset)))
      (if (i32.gt_u (local.get $length) (local.get $chunk)) (then (local.set $length (local.get $chunk))))
      (memory.copy
        (i32.add (local.get $to) (local.get $offset))
        (i32.add (local.get $from) (local.get $offset))
        (local.get $length))
      (drop (i32.atomic.rmw.add offset=8 (local.get $work) (local.get $length)))
      (br $again)))
  ;; The same in two steps, for copies that only the caller can make (between memories of programs): the offset of the next
  ;; chunk, or −1; then that so many bytes are done.
  (func (export "claimJointly") (param $work i32) (param $generation i32) (param $bytes i32) (param $chunk i32) (result i32)
    (local $next i64) (local $offset i32)
    (loop $again
      (local.set $next (i64.atomic.load (local.get $work)))
      (if (i32.ne (i32.wrap_i64 (i64.shr_u (local.get $next) (i64.const 32))) (local.get $generation))
        (then (return (i32.const -1))))
      (local.set $offset (i32.wrap_i64 (local.get $next)))
      (if (i32.ge_u (local.get $offset) (local.get $bytes)) (then (return (i32.const -1))))
      (br_if $again
        (i64.ne
          (i64.atomic.rmw.cmpxchg (local.get $work) (local.get $next)
            (i64.add (local.get $next) (i64.extend_i32_u (local.get $chunk))))
          (local.get $next))))
    (local.get $offset))
  (func (export "doneJointly") (param $work i32) (param $bytes i32)
    (drop (i32.atomic.rmw.add offset=8 (local.get $work) (local.get $bytes))))
  ;; A new work: nothing done, then the generation that makes it valid.
  (func (export "startJointly") (param $work i32) (param $generation i32)
    (i32.atomic.store offset=8 (local.get $work) (i32.const 0))
    (i64.atomic.store (local.get $work) (i64.shl (i64.extend_i32_u (local.get $generation)) (i64.const 32))))

  ;; 1 when the word was `was` and is `now` from here on.
  (func (export "exchange") (param $address i32) (param $was i32) (param $now i32) (result i32)
    (i32.eq (i32.atomic.rmw.cmpxchg (local.get $address) (local.get $was) (local.get $now)) (local.get $was)))

  ;; ---- heap -------------------------------------------------------------------------------------------------------

  ;; A chunk of the heap, or 0. One exchange takes it: a thread killed before has nothing, one killed after has lost
  ;; nobody's memory but its own.
  (func (export "claim") (param $bytes i32) (result i32)
    (local $at i32)
    (loop $again
      (local.set $at (i32.atomic.load (global.get $break)))
      (if (i32.gt_u (local.get $bytes) (i32.sub (global.get $end) (local.get $at))) (then (return (i32.const 0))))
      (br_if $again
        (i32.ne
          (i32.atomic.rmw.cmpxchg (global.get $break) (local.get $at) (i32.add (local.get $at) (local.get $bytes)))
          (local.get $at))))
    (local.get $at))

  ;; ---- boards -----------------------------------------------------------------------------------------------------

  ;; A board is free when no bit of `present` is set and no member's word names a process. Members leave by two steps, bit
  ;; first, and the main thread takes the same two steps for a member that died (living-processes.ts). One killed between them
  ;; leaves its word behind: nobody may claim the board until the main thread has come by, or it would take the bit of a
  ;; new member for that of the dead one.
  ;;
  ;; 1 when the board was free and is now the caller's, who makes it ready before it tells anybody. `members` bits are set.
  ;; The words are looked at again afterwards, and the bits last: if the main thread was at work meanwhile, either its word
  ;; was still there or its bit is gone, and the caller gives the board back.
  (func (export "boardClaim") (param $board i32) (param $members i32) (result i32)
    (local $bits i64)
    (local.set $bits (i64.shr_u (i64.const -1) (i64.sub (i64.const 64) (i64.extend_i32_u (local.get $members)))))
    (if (i32.eqz (call $isVacant (local.get $board) (local.get $members))) (then (return (i32.const 0))))
    (if (i64.ne (i64.atomic.rmw.cmpxchg (local.get $board) (i64.const 0) (local.get $bits)) (i64.const 0))
      (then (return (i32.const 0))))
    (if (i32.eqz (i32.and
          (call $isVacant (local.get $board) (local.get $members))
          (i64.eq (i64.atomic.load (local.get $board)) (local.get $bits))))
      (then
        (i64.atomic.store (local.get $board) (i64.const 0))
        (return (i32.const 0))))
    (i32.atomic.store offset=128 (local.get $board) (i32.const 0))
    (i32.atomic.store offset=256 (local.get $board) (i32.const 0))
    (i32.atomic.store offset=384 (local.get $board) (i32.const 0))
    (i32.const 1))
  (func $isVacant (param $board i32) (param $members i32) (result i32)
    (local $i i32)
    (loop $next
      (if (i32.atomic.load offset=512 (i32.add (local.get $board) (i32.shl (local.get $i) (i32.const 2))))
        (then (return (i32.const 0))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $members))))
    (i32.const 1))
  (func (export "boardLeave") (param $board i32) (param $member i32)
    (drop (i64.atomic.rmw.and (local.get $board)
      (i64.xor (i64.const -1) (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $member))))))
    (i32.atomic.store offset=512 (i32.add (local.get $board) (i32.shl (local.get $member) (i32.const 2))) (i32.const 0)))
  ;; `arrived` is the counter of the round's bank. 1 for the last of the members.
  (func (export "boardArrive") (param $arrived i32) (param $members i32) (result i32)
    (i32.eq (i32.atomic.rmw.add (local.get $arrived) (i32.const 1)) (i32.sub (local.get $members) (i32.const 1))))
  ;; Takes an arrival back: 1; or 0 when the last member has arrived and the gate is open or about to be.
  (func (export "boardWithdraw") (param $arrived i32) (param $members i32) (result i32)
    (local $count i32)
    (loop $again
      (local.set $count (i32.atomic.load (local.get $arrived)))
      (if (i32.or (i32.eqz (local.get $count)) (i32.eq (local.get $count) (local.get $members)))
        (then (return (i32.const 0))))
      (br_if $again
        (i32.ne
          (i32.atomic.rmw.cmpxchg (local.get $arrived) (local.get $count) (i32.sub (local.get $count) (i32.const 1)))
          (local.get $count))))
    (i32.const 1))
  ;; The last one to arrive: the bank's counter is ready for its next use before the gate opens, then sleepers are woken.
  ;; 1 when one of them sleeps elsewhere and must be rung by the caller.
  (func (export "boardOpen") (param $board i32) (param $arrived i32) (param $round i32) (param $members i32) (result i32)
    (local $i i32) (local $bell i32) (local $elsewhere i32)
    (i32.atomic.store (local.get $arrived) (i32.const 0))
    (i32.atomic.store offset=384 (local.get $board) (local.get $round))
    (loop $next
      (local.set $bell (i32.load offset=512 (i32.add (local.get $board) (i32.shl (local.get $i) (i32.const 2)))))
      (if (local.get $bell)
        (then
          (local.set $bell
            (i32.add (global.get $lines) (i32.shl (i32.sub (local.get $bell) (i32.const 1)) (i32.const 9))))
          (if (i32.atomic.load (local.get $bell))
            (then (if (i32.eq (call $ring (local.get $bell)) (i32.const 2))
              (then (local.set $elsewhere (i32.const 1))))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $members))))
    (local.get $elsewhere))
)
